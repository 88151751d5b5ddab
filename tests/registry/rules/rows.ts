import { describe, expect, it } from 'vitest';
import { claim, ended, entry, insert, load, move, nextState, type Store, TTL_MS } from '../support.ts';

export function testRows(store: () => Store): void {
  describe('rows', () => {
    it('keeps a new row as it was given, at version 1, attempt 1, epoch 0', async () => {
      const { registry, clock } = store();
      const made = await insert(registry, 'a');
      expect(made).toEqual({
        id: 'a',
        machine: 'job@1',
        version: 1,
        epoch: 0,
        attempt: 1,
        session: 'human:a',
        spec: { task: 'do a' },
        ...nextState(),
        key: null,
        cleanup: 'none',
        faults: 0,
        faultReason: null,
        createdAt: clock.now(),
        updatedAt: clock.now(),
        since: clock.now(),
      });
      expect(await registry.load('a')).toEqual(made);
      expect(await registry.load('b')).toBeUndefined();
    });

    it('logs the registration with where the row is', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', {
        log: entry({ from: 'kernel', what: 'registered', data: { by: 'me' }, driver: 'd1' }),
      });
      expect(await registry.log({})).toEqual([
        {
          seq: 1,
          job: 'a',
          attempt: 1,
          version: 1,
          epoch: 0,
          at: clock.now(),
          from: 'kernel',
          what: 'registered',
          verdict: 'take',
          reason: null,
          phase: 'pending',
          state: 'queued',
          outcome: null,
          data: { by: 'me' },
          driver: 'd1',
        },
      ]);
    });

    it('refuses an id that is taken, and writes nothing', async () => {
      const { registry } = store();
      const first = await insert(registry, 'a');
      const second = insert(registry, 'a', { next: ended() });
      await expect(second).rejects.toMatchObject({ name: 'RegistryError', code: 'duplicate_id' });
      await expect(second).rejects.toThrow('job a ');
      expect(await registry.load('a')).toEqual(first);
      expect(await registry.log({})).toHaveLength(1);
    });

    it('finds ids by prefix in the order of their making, whatever they sort like', async () => {
      const { registry } = store();
      for (const id of ['ab2', 'ab1', 'b', 'a%', 'ab_', 'abé']) await insert(registry, id);
      expect(await registry.idsWithPrefix('ab', 10)).toEqual(['ab2', 'ab1', 'ab_', 'abé']);
      expect(await registry.idsWithPrefix('ab', 2)).toEqual(['ab2', 'ab1']);
      expect(await registry.idsWithPrefix('a%', 10)).toEqual(['a%']);
      expect(await registry.idsWithPrefix('ab_', 10)).toEqual(['ab_']);
      expect(await registry.idsWithPrefix('', 10)).toHaveLength(6);
      expect(await registry.idsWithPrefix('c', 10)).toEqual([]);
    });

    it('knows the newest id by its making, not by its letters', async () => {
      const { registry } = store();
      expect(await registry.newestId()).toBeUndefined();
      await insert(registry, 'b');
      await insert(registry, 'a');
      expect(await registry.newestId()).toBe('a');
    });

    it('lists all, the open, those of one session, and with a limit the newest', async () => {
      const { registry } = store();
      await insert(registry, 'c');
      await insert(registry, 'b', {}, 'human:shared');
      await insert(registry, 'a', {}, 'human:shared');
      const ids = async (filter?: Parameters<typeof registry.list>[0]) =>
        (await registry.list(filter)).map(({ id }) => id);
      expect(await ids()).toEqual(['c', 'b', 'a']);
      expect(await ids({ session: 'human:shared' })).toEqual(['b', 'a']);
      expect(await ids({ limit: 2 })).toEqual(['b', 'a']);
      expect((await registry.list({ limit: 1 }))[0]).toEqual(await registry.load('a'));

      // Finished with cleanup open is still open; with cleanup done it is not.
      await registry.commit(
        await load(registry, 'c'),
        move({ next: ended(), effects: [{ kind: 'cleanup', input: [] }] }),
      );
      await registry.commit(await load(registry, 'b'), move({ next: ended() }));
      expect(await ids({ open: true })).toEqual(['c', 'a']);
      await registry.commit(await load(registry, 'c'), { cleanupDone: true, log: entry() });
      expect(await ids({ open: true })).toEqual(['a']);
      expect(await ids({ open: true, session: 'human:shared', limit: 5 })).toEqual(['a']);
    });

    it('peeks at what emit judges by, without the key', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      const epoch = await claim(registry, 'a');
      await registry.mintKey({ ...row, epoch }, 'secret');
      const peeked = {
        id: 'a',
        machine: 'job@1',
        attempt: 1,
        version: 1,
        phase: 'pending',
        state: 'queued',
        outcome: null,
      };
      expect(await registry.peek('a')).toEqual({ ...peeked, driven: true });
      clock.advance(TTL_MS);
      expect(await registry.peek('a')).toEqual({ ...peeked, driven: false });
      await registry.commit(await load(registry, 'a'), move({ next: ended() }));
      expect(await registry.peek('a')).toMatchObject({ version: 2, phase: 'failed', outcome: ended().outcome });
      expect(await registry.peek('b')).toBeUndefined();
    });

    it('peeks a released row as not driven', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      await registry.release('a', await claim(registry, 'a'));
      expect(await registry.peek('a')).toMatchObject({ driven: false });
    });

    it('mints one key per attempt, for the epoch that holds', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      expect(await registry.mintKey(row, 'k1')).toBe('k1');
      expect(await registry.mintKey(row, 'k2')).toBe('k1');
      expect(await registry.mintKey({ ...row, attempt: 2 }, 'k3')).toBeNull();
      expect(await registry.mintKey({ ...row, id: 'b' }, 'k3')).toBeNull();
      const epoch = await claim(registry, 'a');
      expect(await registry.mintKey(row, 'k3')).toBeNull();
      expect(await registry.mintKey({ ...row, epoch }, 'k3')).toBe('k1');
      // The version stands: a key is no decision.
      expect(await registry.load('a')).toMatchObject({ version: 1, key: 'k1' });
    });
  });
}
