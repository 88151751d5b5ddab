// Level 6, versions: every row that job@1 can leave behind goes on under a changed machine, and answers as before.
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { decide, RestoreError, restore } from '../../src/kernel/decide.ts';
import { type MachineDefinition, type Migratable, machineId } from '../../src/kernel/definition.ts';
import { FAULT_TIMER } from '../../src/kernel/faults.ts';
import { drift, migrate, migrationChange } from '../../src/kernel/migrate.ts';
import { explore, type Node, wayTo } from './graph.ts';
import { job2, renamed, renamedEvent, renames, toVersion2 } from './next-version.ts';
import { plain } from './play.ts';
import { endByTime, next, type Stored, stored } from './stored.ts';
import { viewOf } from './view.ts';

const graph = explore();
const rows = new Map<Node, Stored>(graph.nodes.map((node) => [node, stored(wayTo(node))]));
const rowAt = (part: string): Stored => {
  const found = [...rows].find(([{ state }]) => JSON.stringify(viewOf(state)).includes(`"${part}"`));
  if (!found) throw new Error(`no node in ${part}`);
  return found[1];
};
const migrated = (row: Migratable, definition: MachineDefinition = job2) =>
  migrate(definition, { machine: 'job@1', snapshot: row.snapshot }, row.timers, row.outbox);
const failure = (run: () => unknown): string => {
  try {
    run();
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(RestoreError);
    return (error as Error).message;
  }
};

describe('job@1 → a changed job@2', () => {
  it('every reachable row restores, has what its states wait for, and ends by time alone', () => {
    expect(rows.size).toBeGreaterThan(800);
    for (const [node, row] of rows) {
      const to = migrated(row) as Migratable;
      expect(typeof to, node.name).toBe('object');
      expect(drift(job2, to.snapshot, to.timers, to.outbox), node.name).toEqual([]);
      expect(() => endByTime({ ...to, now: row.now }, job2), node.name).not.toThrow();
    }
  });

  it('every row answers every event as it did: nothing is lost, nothing is answered anew', () => {
    let compared = 0;
    for (const [node, row] of rows) {
      const to = migrated(row) as Migratable;
      for (const { event, refused, to: after, name } of node.edges) {
        const decision = decide(job2, to.snapshot, renamedEvent(event));
        expect(decision.taken, name).toBe(!refused);
        if (!refused) expect(plain(decision.next.snapshot.value), name).toEqual(renamed(plain(after.value)));
        expect(decision.next.snapshot.context, name).toEqual(plain(after.context));
        compared++;
      }
    }
    expect(compared).toBe(graph.edges.length);
  });

  it('what a migration commits gives the same timers at the same absolute time, and the same open effects', () => {
    for (const [node, row] of rows) {
      const to = migrated(row) as Migratable;
      const change = migrationChange(job2, to, 1_000, { from: 'kernel', what: 'migrated', verdict: 'take' });
      expect(change.migrateTo).toBe('job@2');
      expect(change.next, node.name).toMatchObject({
        phase: jobDefinition.phaseOf(node.state),
        outcome: node.state.context.outcome,
      });
      const arms = (change.effects ?? []).flatMap((effect) =>
        effect.kind === 'arm' ? [{ ...effect.timer, fireAt: 1_000 + effect.afterMs }] : [],
      );
      expect(arms, node.name).toEqual(
        to.timers.map(({ id, delay, event, silence, fireAt }) => ({ id, delay, event, silence, fireAt })),
      );
      const work = (change.effects ?? []).flatMap((effect) =>
        effect.kind === 'invoke' ? [effect.invokeId] : effect.kind === 'cleanup' ? ['cleanup'] : [],
      );
      expect(work, node.name).toEqual(to.outbox.map(({ invokeId }) => invokeId));
    }
  });

  it('changes nothing of what it was given', () => {
    const row = rowAt('typing');
    const before = plain(row);
    migrated(row);
    expect(row).toEqual(before);
  });
});

describe('without the migration the same rows are caught', () => {
  const unchanged = { ...job2, migrations: { 1: (old: Migratable) => old } };
  const broken = new Map([...rows].map(([node, row]) => [node, failure(() => migrated(row, unchanged))]));
  const where = (node: Node) => viewOf(node.state);

  it('a renamed state', () => {
    for (const [node, message] of broken)
      if (where(node).place === 'subscribed') expect(message, node.name).toContain('subscribed');
  });

  it('a renamed effect: its child would be lost in silence', () => {
    for (const [node, message] of broken) {
      if (where(node).delivery === 'holding' || where(node).delivery === 'typing')
        expect(message, node.name).toContain('inject');
    }
  });

  it('an added timer', () => {
    for (const [node, message] of broken)
      if (where(node).turn === 'reminding') expect(message, node.name).toContain('reminderLimit');
  });

  it('and only those', () => {
    for (const [node, message] of broken) {
      const { place, delivery, turn } = where(node);
      const hit = place === 'subscribed' || delivery === 'holding' || delivery === 'typing' || turn === 'reminding';
      expect(message !== '', node.name).toBe(hit);
    }
    expect([...broken.values()].filter(Boolean).length).toBeGreaterThan(100);
  });
});

describe('a half migration is refused', () => {
  const half = (change: (to: Migratable) => Migratable): MachineDefinition => ({
    ...job2,
    migrations: { 1: (old) => change(toVersion2(old)) },
  });

  it.each<[string, (to: Migratable) => Migratable, string, string]>([
    [
      'snapshot only',
      (to) => ({
        ...to,
        outbox: to.outbox.map((work) => ({ ...work, invokeId: work.invokeId.replace('deliver', 'inject') })),
      }),
      'typing',
      'the effect inject belongs to no active state',
    ],
    [
      'another source',
      (to) => ({ ...to, outbox: to.outbox.map((work) => ({ ...work, src: work.src.replace('deliver', 'inject') })) }),
      'typing',
      'runs as inject, the machine means deliver',
    ],
    [
      'a lost effect',
      (to) => ({ ...to, outbox: to.outbox.filter(({ invokeId }) => invokeId !== 'deliver') }),
      'holding',
      'waits for the effect deliver, which does not run',
    ],
    [
      'a closed effect',
      (to) => ({ ...to, outbox: to.outbox.map((work) => ({ ...work, open: false })) }),
      'draining',
      'waits for the effect drainWays, which does not run',
    ],
    [
      'a lost timer',
      (to) => ({ ...to, timers: [] }),
      'verifying',
      'verifyLimit.job.finalizing.verifying, which is not armed',
    ],
    [
      'a timer too many',
      (to) => ({ ...to, timers: to.timers.map((timer) => ({ ...timer, id: `${timer.id}.x` })) }),
      'draining',
      'belongs to no active state',
    ],
    [
      'a timer that sends another event',
      (to) => ({ ...to, timers: to.timers.map((timer) => ({ ...timer, event: { type: 'x' } })) }),
      'draining',
      'would send x',
    ],
    [
      'an effect that was never started',
      (to) => ({ ...to, snapshot: { ...to.snapshot, children: {} } }),
      'settling',
      'which was never started',
    ],
  ])('%s', (_, change, part, sentence) => {
    expect(failure(() => migrated(rowAt(part), half(change)))).toContain(sentence);
  });

  it('a finished row may have no timer and no effect, but cleanup and the kernel’s own timer', () => {
    const row = rowAt('ended');
    expect(row.outbox.map(({ kind }) => kind)).toEqual(['cleanup']);
    expect(typeof migrated(row)).toBe('object');
    const [deadline] = rowAt('typing').timers;
    const own = {
      ...deadline,
      id: FAULT_TIMER,
      delay: FAULT_TIMER,
      event: { type: FAULT_TIMER },
    } as Migratable['timers'][number];
    expect(drift(job2, row.snapshot, [own], row.outbox)).toEqual([]);
    expect(drift(job2, row.snapshot, [deadline as Migratable['timers'][number]], row.outbox)).toHaveLength(1);
  });
});

describe('which rows are migrated', () => {
  const row = rowAt('typing');
  const of = (machine: string, definition = job2) =>
    migrate(definition, { machine, snapshot: row.snapshot }, row.timers, row.outbox);

  it('not those of this version', () => expect(of('job@1', jobDefinition)).toBe('current'));

  it.each(['job@3', 'loop@1', 'jobs@1', 'job', 'job@', 'job@0', 'job@1x', 'job@-1', ''])(
    '%s is left to the build that knows it',
    (machine) => {
      expect(of(machine)).toBe('unknown');
    },
  );

  it('a gap in the chain is an error, not a guess', () => {
    expect(failure(() => of('job@1', { ...job2, version: 3 }))).toContain('no migration from job@2');
  });

  it('the whole chain runs, in order', () => {
    const said: number[] = [];
    const chain: MachineDefinition = {
      ...job2,
      version: 3,
      migrations: {
        1: (old) => {
          said.push(1);
          return renames(old);
        },
        2: (old) => {
          said.push(2);
          return old;
        },
      },
    };
    expect(typeof of('job@1', chain)).toBe('object');
    expect(said).toEqual([1, 2]);
    expect(machineId(chain)).toBe('job@3');
  });

  it('a snapshot that was brought to life under the old machine is judged anew under the new one', () => {
    const typing = plain(row.snapshot);
    restore(jobDefinition, typing);
    const same = { ...job2, migrations: { 1: (old: Migratable) => old } };
    expect(failure(() => migrate(same, { machine: 'job@1', snapshot: typing }, row.timers, row.outbox))).toContain(
      'inject',
    );
  });
});

describe('an effect that may end while its state goes on', () => {
  it('may be over: the watcher has ended, the state waits for nothing', () => {
    const row = next(rowAt('typing'), { type: 'xstate.done.actor.watch' });
    expect(row.outbox.map(({ invokeId }) => invokeId)).not.toContain('watch');
    expect(drift(jobDefinition, row.snapshot, row.timers, row.outbox)).toEqual([]);
  });

  it('a timer that fires and stays in its state may be gone', () => {
    const logic = createMachine({ id: 'toy', initial: 'a', states: { a: { after: { 5: { actions: [] } } } } });
    const toy = { ...jobDefinition, logic };
    const snapshot = { status: 'active', value: 'a', context: {}, children: {}, historyValue: {} };
    expect(drift(toy, snapshot, [], [])).toEqual([]);
  });
});
