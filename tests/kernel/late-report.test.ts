// A timer is applied only after everything that has come in (docs/design.md section 4, "Time"). The loop drains before it looks
// for due timers; what is shown here is the report that arrives between that drain and the timer.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { drain } from '../../src/kernel/drain.ts';
import type { Registry } from '../../src/kernel/ports.ts';
import { fireDue } from '../../src/kernel/timers.ts';
import { DrivenJob } from '../models/driven.ts';
import { explore, LIMITS, wayTo } from '../models/graph.ts';
import { stored } from '../models/stored.ts';
import { viewOf } from '../models/view.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';

let store: SqliteStore;
beforeEach(async () => {
  store = await makeSqliteStore();
});
afterEach(() => store.dispose());

it('a report that arrives while the due timers are read comes before them', async () => {
  const working = explore().nodes.find(({ state }) => {
    const { turn, delivery } = viewOf(state);
    return turn === 'working' && delivery === 'accepted';
  });
  const job = await DrivenJob.at(store.registry, store.clock, stored(wayTo(working!)));
  const report = await job.request({ type: 'completed', seq: 9, manifest: 'a'.repeat(64) });
  if (report.from !== 'agent') throw new Error('not an agent’s');
  store.clock.advance(LIMITS.deadline + 1);
  let arrived = false;
  const { context, held } = job.driver;
  const registry: Registry = new Proxy(context.registry, {
    get(target, name: keyof Registry) {
      if (name !== 'timers') return target[name];
      return async (id: string) => {
        const timers = await target.timers(id);
        if (!arrived) await target.deliver(report, id, 'inbox');
        arrived = true;
        return timers;
      };
    },
  });
  const disturbed = { ...context, registry };
  await drain(disturbed, held);
  await fireDue(disturbed, held, () => drain(disturbed, held));
  expect(arrived).toBe(true);
  const decided = (await store.registry.log({ job: job.id })).filter(
    ({ from, verdict }) => from !== 'kernel' && verdict === 'take',
  );
  expect(decided.map(({ what }) => what)).toEqual(['completed']);
  expect((await job.row()).outcome).toEqual({ status: 'completed', reason: 'reported' });
});
