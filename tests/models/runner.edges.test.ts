// Level 2 on the real store, refusals and answers: every event in every place, asked of a row that lies there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drain } from '../../src/kernel/drain.ts';
import { handle } from '../../src/kernel/handle.ts';
import type { OutsideRequest } from '../../src/kernel/ports.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';
import { DrivenJob } from './driven.ts';
import { eventName, internal } from './events.ts';
import { type Edge, explore, type Node, wayTo } from './graph.ts';
import { columnOf, reportCell, TABLE_OF_THE_PAGE } from './page.ts';
import { plain } from './play.ts';
import { stored } from './stored.ts';
import { placeName, viewOf } from './view.ts';

let store: SqliteStore;
beforeAll(async () => {
  store = await makeSqliteStore();
});
afterAll(() => store.dispose());
const jobAt = (node: Node) => DrivenJob.at(store.registry, store.clock, stored(wayTo(node)));

const graph = explore();

/** One edge for each event, place and result; they differ in what the context remembers, which the pure kernel plays in full. */
function representatives(edges: readonly Edge[]): [string, Edge][] {
  const groups = new Map<string, Edge>();
  for (const edge of edges) {
    const { outcome } = edge.to.context;
    const event = eventName(edge.event, edge.from.state.context.lastPermission);
    const place = placeName(edge.from.state, /^bus\.|readDisk|diskPoll/.test(edge.event.type));
    const name = `${place}${outcome ? ` {${outcome.reason}}` : ''} -- ${event} -> ${edge.refused ? 'refused' : placeName(edge.to)}`;
    if (!groups.has(name)) groups.set(name, edge);
  }
  return [...groups];
}

const isOutside = (type: string) => type in TABLE_OF_THE_PAGE;

describe('what the machine takes', () => {
  // News come from an effect that runs. Where none does, nobody can tell any.
  const isTold = ({ event, from }: Edge) =>
    isOutside(event.type) || event.type.startsWith('xstate.') || from.running.effects.size > 0;

  it.each(representatives(graph.edges.filter((edge) => !edge.refused && isTold(edge))))(
    '%s',
    async (_, { from, event, to, running }) => {
      const job = await jobAt(from);
      const before = await job.row();
      store.clock.advance(1);
      const answer = await job.play(event);
      const row = await job.row();
      expect(row.snapshot.value).toEqual(plain(to.value));
      expect(row.snapshot.context).toEqual(plain(to.context));
      expect(row.version).toBe(before.version + 1);
      expect(await job.open()).toEqual([...running.effects].sort());
      expect((await job.timers()).map(({ delay }) => delay).sort()).toEqual([...running.timers.keys()].sort());
      if (isOutside(event.type)) expect(answer).toMatchObject({ verdict: 'take', reason: null, version: row.version });
      const [last] = (await store.registry.log({ job: job.id }))
        .filter(({ what }) => !what.startsWith('step '))
        .slice(-1);
      expect(last).toMatchObject({ verdict: 'take', version: row.version, phase: row.phase, outcome: row.outcome });
    },
  );
});

describe('what the table turns away', () => {
  const outside = graph.edges.filter(({ refused, event }) => refused && isOutside(event.type));

  it.each(representatives(outside))('%s', async (_, { from, event }) => {
    const job = await jobAt(from);
    const [before, timers] = [await job.row(), await job.timers()];
    const answer = await job.play(event);
    const cell = TABLE_OF_THE_PAGE[event.type]?.[columnOf(viewOf(from.state))];
    const verdict = cell === 'report' ? reportCell(event.type, from.state.context) : cell;
    expect(answer).toEqual({
      verdict,
      version: before.version,
      reason: verdict === 'refused' ? 'not_now' : null,
      phase: before.phase,
    });
    expect(await job.row()).toEqual(before);
    expect(await job.timers()).toEqual(timers);
    const [last] = (await store.registry.log({ job: job.id })).slice(-1);
    expect(last).toMatchObject({ what: event.type, verdict, version: before.version });
  });
});

describe('a result or a timer that is not current any more', () => {
  const inside = graph.edges.filter(({ refused, event }) => !refused && event.type.startsWith('xstate.'));

  it.each(representatives(inside))('%s, twice', async (_, { from, event }) => {
    const job = await jobAt(from);
    const request = await job.request(event);
    await job.play(event);
    const before = await job.row();
    const again = await handle(job.driver.context, job.id, request);
    expect(again).toMatchObject({
      verdict: 'refused',
      reason: internal(event.type).kind === 'timer' ? 'stale_timer' : 'stale_result',
    });
    expect(await job.row()).toEqual(before);
  });
});

describe('a repeated id', () => {
  const asked = representatives(
    graph.edges.filter(({ event }) => ['completed', 'cancelled', 'progress'].includes(event.type)),
  );

  it.each(asked)('%s: the first answer again', async (_, { from, event }) => {
    const job = await jobAt(from);
    const request = (await job.request(event)) as OutsideRequest;
    const ask = async () => {
      await store.registry.deliver(request, job.id, 'spool');
      await drain(job.driver.context, job.driver.held);
      return (await store.registry.inboxRow(request.id))?.answer;
    };
    const first = await ask();
    expect(first).toBeDefined();
    const after = await job.row();
    expect(await ask()).toEqual(first);
    expect(await ask()).toEqual(first);
    expect(await job.row()).toEqual(after);
  });
});

describe('who may ask', () => {
  it.each(['started', 'completed'])(
    'a forged, an altered and another attempt’s %s: refused, logged, nothing else',
    async (type) => {
      const node = graph.nodes.find(({ state }) => viewOf(state).turn === 'working') as Node;
      const job = await jobAt(node);
      const request = (await job.request({ type, seq: 9, manifest: 'a'.repeat(64) })) as OutsideRequest & {
        from: 'agent';
      };
      const before = await job.row();
      const ask = (envelope: object) =>
        handle(job.driver.context, job.id, { ...request, envelope: { ...request.envelope, ...envelope } });
      expect(await ask({ attempt: 2 })).toMatchObject({ verdict: 'refused', reason: 'other_attempt' });
      expect(await ask({ job: 'other' })).toMatchObject({ verdict: 'refused', reason: 'unknown_job' });
      expect(await ask({ seq: -1 })).toMatchObject({ verdict: 'refused', reason: 'malformed' });
      expect(await ask({ event: { type: 'xstate.done.actor.verifyReport' } })).toMatchObject({
        verdict: 'refused',
        reason: 'malformed',
      });
      expect(await job.row()).toEqual(before);
      const told = (await store.registry.log({ job: job.id }))
        .slice(-4)
        .map(({ verdict, reason }) => `${verdict} ${reason}`);
      expect(told).toEqual(['refused other_attempt', 'refused unknown_job', 'refused malformed', 'refused malformed']);
    },
  );
});

describe('a driver that has lost its row', () => {
  const node = graph.nodes.find(({ state }) => viewOf(state).turn === 'working') as Node;

  it.each(['with the row in memory', 'without'])('commits nothing more, %s', async (memory) => {
    const job = await jobAt(node);
    const former = await job.shadow();
    await job.adopt();
    const before = await job.row();
    if (memory === 'without') former.held.cached = null;
    for (const event of [{ type: 'cancelled' }, { type: 'turn.settled' }, { type: 'progress', seq: 9 }]) {
      expect(await handle(former.context, job.id, await job.request(event)), event.type).toBeNull();
    }
    await drain(former.context, former.held);
    expect(await job.row()).toEqual(before);
    await former.reconciled();
    expect(former.waiting.size).toBe(0);
  });
});

describe('the once protocol over a killed driver', () => {
  const holding = graph.nodes.find(({ state }) => viewOf(state).delivery === 'holding') as Node;
  const step = (job: DrivenJob) => {
    const inject = job.driver.waiting.get('inject');
    if (!inject) throw new Error('inject does not run');
    return job.step(inject.env, 'paste');
  };

  it('killed before the mark: the next driver acts, once', async () => {
    const job = await jobAt(holding);
    await job.play({ type: 'step.started', step: 'paste' }, 'before');
    expect(job.acts.get('paste')).toBe(1);
    expect(await step(job)).toBe('done');
    expect(job.acts.get('paste')).toBe(1);
  });

  it('killed after the mark: nobody acts any more; it is inspected as open, and the row knows that it may have been sent', async () => {
    const job = await jobAt(holding);
    await job.play({ type: 'step.started', step: 'paste' }, 'after');
    expect(job.acts.get('paste')).toBeUndefined();
    expect(await step(job)).toBe('unproven');
    expect(job.acts.get('paste')).toBeUndefined();
    expect((await job.row()).snapshot.context.deliveryStarted).toBe(true);
    const seen = await job.driver.waiting.get('inject')?.env.inspect('paste');
    expect(seen).toMatchObject({ state: 'open', gone: true });
  });

  it('a step of the former epoch’s driver is not acted out after a successor has claimed', async () => {
    const job = await jobAt(holding);
    const sleeper = job.driver;
    const inject = sleeper.waiting.get('inject');
    const twin = await job.shadow();
    await twin.context.registry.claim(job.id, { ...sleeper.record, id: 'successor' }, 1e9, 1e9, () => true);
    const acted: string[] = [];
    const outcome = await inject?.env.once({ name: 'paste', act: () => void acted.push('paste'), limitMs: 1_000 });
    expect(outcome).toBe('lost');
    expect(acted).toEqual([]);
    expect(await store.registry.steps(job.id, 1)).toEqual([]);
  });
});
