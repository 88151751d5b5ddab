import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/kernel/ports.ts';
import {
  arm,
  cancel,
  claim,
  ended,
  entry,
  insert,
  invoke,
  load,
  move,
  nextState,
  refusal,
  type Store,
} from '../support.ts';

export function testCommits(store: () => Store): void {
  describe('commit', () => {
    it('moves the row once: version and projections change, the log says so', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      clock.advance(500);
      const next = nextState({
        phase: 'injected',
        state: 'injected.working',
        snapshot: { ...row.snapshot, value: 'x' },
      });
      expect(await registry.commit(row, move({ next, durable: true }))).toBe(true);
      expect(await registry.load('a')).toEqual({
        ...row,
        ...next,
        version: 2,
        updatedAt: clock.now(),
        since: clock.now(),
      });
      expect((await registry.log({})).at(-1)).toMatchObject({
        seq: 2,
        version: 2,
        phase: 'injected',
        state: 'injected.working',
        what: 'moved',
      });
    });

    it('does nothing when version, epoch or id are not what was read', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [arm('deadline', 10), invoke('watch')] });
      const change = move({
        next: ended(),
        effects: [{ kind: 'stop', invokeId: 'watch' }, arm('x', 1)],
        step: { step: 's', driver: 'd', limitAt: 1 },
      });
      for (const wrong of [{ version: 2 }, { version: 0 }, { epoch: 1 }, { id: 'b' }]) {
        expect(await registry.commit({ ...row, ...wrong }, change)).toBe(false);
        expect(await registry.commit({ ...row, ...wrong }, refusal())).toBe(false);
      }
      expect(await registry.load('a')).toEqual(row);
      expect(await registry.timers('a')).toHaveLength(1);
      expect(await registry.openWork('a')).toHaveLength(1);
      expect(await registry.steps('a', 1)).toEqual([]);
      expect(await registry.log({})).toHaveLength(1);
    });

    it('lets one of two that read the same row win', async () => {
      const { registry, open } = store();
      const other = await open();
      const row = await insert(registry, 'a');
      const won = await Promise.all([registry.commit(row, move()), other.commit(row, move())]);
      expect(won.toSorted()).toEqual([false, true]);
      expect(await other.load('a')).toMatchObject({ version: 2 });
    });

    it('fences a former epoch', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      const epoch = await claim(registry, 'a');
      expect(await registry.commit(row, move())).toBe(false);
      expect(await registry.commit({ ...row, epoch }, move())).toBe(true);
      expect((await registry.log({})).at(-1)).toMatchObject({ epoch, version: 2 });
    });

    it('keeps `since` while the state stays', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      clock.advance(500);
      await registry.commit(row, move());
      expect(await registry.load('a')).toMatchObject({ since: row.since, updatedAt: row.since + 500 });
      await registry.commit({ ...row, version: 2 }, move({ next: nextState({ state: 'preflight' }) }));
      expect(await registry.load('a')).toMatchObject({ since: row.since + 500, state: 'preflight' });
    });

    it('takes a refusal at the version that was judged, without raising it', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      await registry.deliver(cancel('r1'), 'a', 'inbox');
      clock.advance(5);
      const answer: Answer = { verdict: 'refused', version: 1, reason: 'not_now', phase: 'pending' };
      expect(await registry.commit(row, refusal({ cause: { inbox: { id: 'r1', answer } } }))).toBe(true);
      expect(await registry.load('a')).toEqual(row);
      expect(await registry.inboxRow('r1')).toMatchObject({ answer });
      expect((await registry.log({})).at(-1)).toMatchObject({ version: 1, verdict: 'refused', reason: 'not_now' });
    });

    it('refuses the whole change when its step was started before', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      const step = { step: 'paste', driver: '{"id":"d1"}', limitAt: clock.now() + 50 };
      expect(await registry.commit(row, { step, log: entry({ what: 'step.started' }) })).toBe(true);
      const after = await load(registry, 'a');
      expect(after).toMatchObject({ version: 2, state: row.state });
      const marked = { job: 'a', attempt: 1, ...step, epoch: 0, startedAt: clock.now(), result: null };
      expect(await registry.step('a', 1, 'paste')).toEqual(marked);

      expect(
        await registry.commit(
          after,
          move({ next: ended(), step: { ...step, driver: 'other' }, effects: [arm('x', 1)] }),
        ),
      ).toBe(false);
      expect(await registry.load('a')).toEqual(after);
      expect(await registry.steps('a', 1)).toEqual([marked]);
      expect(await registry.timers('a')).toEqual([]);
      expect(await registry.log({})).toHaveLength(2);
    });

    it('keeps a step’s first result, and does not raise the version for it', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      await registry.commit(row, { step: { step: 'paste', driver: 'd', limitAt: 1 }, log: entry() });
      await registry.commit({ ...row, version: 2 }, { step: { step: 'enter', driver: 'd', limitAt: 1 }, log: entry() });
      const at = { ...row, version: 3 };
      expect(await registry.commit(at, { stepResult: { step: 'paste', result: 'withheld' }, log: entry() })).toBe(true);
      expect(await registry.commit(at, { stepResult: { step: 'paste', result: 'done' }, log: entry() })).toBe(true);
      expect(await registry.load('a')).toMatchObject({ version: 3 });
      expect((await registry.steps('a', 1)).map(({ step, result }) => [step, result])).toEqual([
        ['paste', 'withheld'],
        ['enter', null],
      ]);
      expect(await registry.step('a', 1, 'never')).toBeUndefined();
    });

    it('opens cleanup with a terminal commit that brings it, and closes it on request', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      await registry.commit(row, move({ next: ended(), effects: [{ kind: 'cleanup', input: [{ do: 'reap' }] }] }));
      const open = await load(registry, 'a');
      expect(open).toMatchObject({ cleanup: 'open', outcome: ended().outcome });
      const [work] = await registry.openWork('a');
      expect(work).toMatchObject({
        kind: 'cleanup',
        invokeId: 'cleanup',
        src: 'cleanup',
        input: [{ do: 'reap' }],
        open: true,
      });
      await registry.commit(open, { cleanupDone: true, cause: { outboxId: work!.id }, log: entry() });
      expect(await registry.load('a')).toMatchObject({
        version: 3,
        cleanup: 'done',
        phase: 'failed',
        outcome: ended().outcome,
      });
      expect(await registry.openWork('a')).toEqual([]);
    });

    it('sets and clears faults, and nothing else with them', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      await registry.commit(row, { faults: { count: 2, reason: 'threw' }, log: entry() });
      expect(await registry.load('a')).toEqual({ ...row, version: 2, faults: 2, faultReason: 'threw' });
      await registry.commit({ ...row, version: 2 }, move());
      expect(await registry.load('a')).toMatchObject({ faults: 2, faultReason: 'threw' });
      await registry.commit({ ...row, version: 3 }, move({ faults: { count: 0, reason: null } }));
      expect(await registry.load('a')).toMatchObject({ faults: 0, faultReason: null });
    });

    it('begins an attempt on the same row: key, work, timers and outcome of the old one go, its steps stay', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a', { effects: [arm('old', 10), invoke('watch')] });
      await registry.mintKey(row, 'k1');
      await registry.commit(
        row,
        move({
          next: ended(),
          effects: [{ kind: 'cleanup', input: [] }],
          step: { step: 'paste', driver: 'd', limitAt: 1 },
        }),
      );
      await registry.commit({ ...row, version: 2 }, { cleanupDone: true, log: entry() });
      clock.advance(1000);
      const began = {
        beginAttempt: 2,
        next: nextState(),
        effects: [arm('new', 20), invoke('sessionLease')],
        log: entry({ what: 'redispatch', verdict: 'begin' }),
      } as const;
      expect(await registry.commit({ ...row, version: 3 }, { ...began, effects: [...began.effects] })).toBe(true);
      expect(await registry.load('a')).toEqual({
        ...row,
        version: 4,
        attempt: 2,
        updatedAt: clock.now(),
        since: clock.now(),
      });
      expect((await registry.timers('a')).map(({ id, armedVersion, fireAt }) => [id, armedVersion, fireAt])).toEqual([
        ['new', 4, clock.now() + 20],
      ]);
      expect((await registry.openWork('a')).map(({ attempt, invokeId }) => [attempt, invokeId])).toEqual([
        [2, 'sessionLease'],
      ]);
      expect(await registry.steps('a', 1)).toHaveLength(1);
      expect(await registry.steps('a', 2)).toEqual([]);
      expect((await registry.log({})).at(-1)).toMatchObject({ attempt: 2, version: 4, outcome: null });
      // The same step of the new attempt is another step.
      expect(
        await registry.commit(
          { ...row, version: 4 },
          { step: { step: 'paste', driver: 'd', limitAt: 1 }, log: entry() },
        ),
      ).toBe(true);
      expect(await registry.mintKey({ ...row, attempt: 2 }, 'k2')).toBe('k2');
    });

    it('migrates a row: machine, timers and open work are those of the new version', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a', { effects: [arm('old', 10), invoke('watch')] });
      await registry.mintKey(row, 'k1');
      expect(
        await registry.commit(row, move({ migrateTo: 'job@2', effects: [arm('deadline', -5), invoke('see')] })),
      ).toBe(true);
      expect(await registry.load('a')).toMatchObject({ machine: 'job@2', version: 2, attempt: 1, key: 'k1' });
      expect((await registry.timers('a')).map(({ id, fireAt }) => [id, fireAt])).toEqual([
        ['deadline', clock.now() - 5],
      ]);
      expect((await registry.openWork('a')).map(({ invokeId }) => invokeId)).toEqual(['see']);
    });
  });

  describe('note', () => {
    it('adds evidence with where the row is now, whatever its version, and leaves the row', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      await registry.commit(row, move({ next: ended() }));
      const before = await registry.load('a');
      await registry.note('a', entry({ what: 'late', verdict: 'refused', reason: 'stale_result', data: [1, null] }));
      expect(await registry.load('a')).toEqual(before);
      expect((await registry.log({})).at(-1)).toMatchObject({
        seq: 3,
        version: 2,
        phase: 'failed',
        outcome: ended().outcome,
        data: [1, null],
      });
    });

    it('works for a job that does not exist', async () => {
      const { registry } = store();
      await registry.note('ghost', entry({ what: 'seen' }));
      expect(await registry.log({ job: 'ghost' })).toMatchObject([
        { job: 'ghost', version: 0, phase: 'pending', what: 'seen' },
      ]);
      expect(await registry.load('ghost')).toBeUndefined();
    });
  });

  describe('log', () => {
    it('is one sequence over all jobs, read forwards by job, place and number', async () => {
      const { registry } = store();
      for (const id of ['a', 'b']) await insert(registry, id);
      for (const what of ['one', 'two']) for (const id of ['a', 'b']) await registry.note(id, entry({ what }));
      const whats = async (filter: Parameters<typeof registry.log>[0]) =>
        (await registry.log(filter)).map(({ job, what }) => `${job} ${what}`);
      expect((await registry.log({})).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await whats({ job: 'b' })).toEqual(['b registered', 'b one', 'b two']);
      expect(await whats({ afterSeq: 3 })).toEqual(['b one', 'a two', 'b two']);
      expect(await whats({ job: 'a', afterSeq: 1, limit: 1 })).toEqual(['a one']);
      expect(await whats({ limit: 2 })).toEqual(['a registered', 'b registered']);
      expect(await whats({ job: 'c' })).toEqual([]);
    });
  });
}
