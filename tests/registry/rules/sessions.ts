import { describe, expect, it } from 'vitest';
import { claim, driver, ended, entry, GAP_MS, insert, load, move, nextState, type Store, TTL_MS } from '../support.ts';

const SESSION = 'tmux:%7';

export function testSessions(store: () => Store): void {
  /** A job queued for the shared session, with a live driver. */
  const queued = async (id: string) => {
    const { registry } = store();
    await insert(registry, id, {}, SESSION);
    await claim(registry, id, `driver of ${id}`);
    return load(registry, id);
  };

  describe('sessions', () => {
    it('gives a free session to the job, and again to the same attempt', async () => {
      const { registry, clock } = store();
      const a = await queued('a');
      expect(await registry.sessionRow(SESSION)).toBeUndefined();
      expect(await registry.acquireSession(a)).toBe(true);
      const held = { session: SESSION, job: 'a', attempt: 1, quarantine: null, since: clock.now() };
      clock.advance(5);
      expect(await registry.acquireSession(a)).toBe(true);
      expect(await registry.sessionRow(SESSION)).toEqual(held);
      expect(await registry.sessions()).toEqual([held]);
    });

    it('lets one job hold it at a time, the oldest next', async () => {
      const { registry } = store();
      // Ids against the order of their making.
      const [c, b, a] = [await queued('c'), await queued('b'), await queued('a')];
      expect(await registry.acquireSession(a)).toBe(false);
      expect(await registry.acquireSession(b)).toBe(false);
      expect(await registry.acquireSession(c)).toBe(true);
      await registry.commit(c, move({ next: nextState({ phase: 'injected', state: 'injected' }) }));
      expect(await registry.acquireSession(b)).toBe(false);
      await registry.releaseSession(c);
      expect(await registry.acquireSession(a)).toBe(false);
      expect(await registry.acquireSession(b)).toBe(true);
    });

    it('lets nobody wait for a row that nobody drives', async () => {
      const { registry, clock } = store();
      await insert(registry, 'never driven', {}, SESSION);
      const gone = await queued('gone');
      const left = await queued('left');
      await registry.release('left', left.epoch);
      clock.advance(TTL_MS);
      const a = await queued('a');
      expect(await registry.acquireSession(a)).toBe(true);
      // Its own lease is over, so it is no candidate itself.
      await registry.releaseSession(a);
      expect(await registry.acquireSession(gone)).toBe(false);
      expect(await registry.acquireSession(left)).toBe(false);
    });

    it('gives nothing to another epoch, another attempt or a row that has ended', async () => {
      const { registry } = store();
      const a = await queued('a');
      expect(await registry.acquireSession({ ...a, epoch: a.epoch + 1 })).toBe(false);
      expect(await registry.acquireSession({ ...a, attempt: 2 })).toBe(false);
      expect(await registry.acquireSession({ ...a, id: 'ghost' })).toBe(false);
      await registry.commit(a, move({ next: ended() }));
      expect(await registry.acquireSession(a)).toBe(false);
      expect(await registry.sessions()).toEqual([]);
    });

    it('puts a new attempt at the end of the queue', async () => {
      const { registry } = store();
      const a = await queued('a');
      const b = await queued('b');
      await registry.commit(a, move({ next: ended() }));
      await registry.commit({ ...a, version: 2 }, { beginAttempt: 2, next: nextState(), log: entry() });
      const again = await load(registry, 'a');
      expect(await registry.acquireSession(again)).toBe(false);
      expect(await registry.acquireSession(b)).toBe(true);
      await registry.releaseSession(b);
      await registry.commit(b, move({ next: ended() }));
      expect(await registry.acquireSession(again)).toBe(true);
      expect(await registry.sessionRow(SESSION)).toMatchObject({ job: 'a', attempt: 2 });
    });

    it('does not give an attempt what an earlier one has left behind', async () => {
      const { registry } = store();
      const a = await queued('a');
      await registry.acquireSession(a);
      await registry.commit(a, move({ next: ended() }));
      await registry.commit({ ...a, version: 2 }, { beginAttempt: 2, next: nextState(), log: entry() });
      expect(await registry.acquireSession(await load(registry, 'a'))).toBe(false);
      expect(await registry.sessionRow(SESSION)).toMatchObject({ job: 'a', attempt: 1 });
    });

    it('gives it to one of two that ask at the same moment', async () => {
      const { registry, open } = store();
      const other = await open();
      const [a, b] = [await queued('a'), await queued('b')];
      const got = await Promise.all([registry.acquireSession(a), other.acquireSession(b), other.acquireSession(a)]);
      expect(got).toEqual([true, false, true]);
    });

    it('quarantines what its holder cannot leave clean: given to nobody until released', async () => {
      const { registry, clock } = store();
      const [a, b] = [await queued('a'), await queued('b')];
      await registry.acquireSession(a);
      clock.advance(10);
      await registry.quarantineSession(a, 'a dialog is open');
      const row = { session: SESSION, job: 'a', attempt: 1, quarantine: 'a dialog is open', since: clock.now() };
      expect(await registry.sessionRow(SESSION)).toEqual(row);
      clock.advance(10);
      await registry.quarantineSession(a, 'still a dialog');
      expect(await registry.sessionRow(SESSION)).toEqual({ ...row, quarantine: 'still a dialog' });
      expect(await registry.acquireSession(b)).toBe(false);
      expect(await registry.acquireSession(a)).toBe(false);
      await registry.releaseSession(a);
      expect(await registry.sessions()).toEqual([]);
    });

    it('releases and quarantines only for the job, attempt and epoch that hold', async () => {
      const { registry } = store();
      const [a, b] = [await queued('a'), await queued('b')];
      await registry.acquireSession(a);
      const before = await registry.sessions();
      const taken = await registry.claim('a', driver('d2'), TTL_MS, GAP_MS, () => true);
      for (const wrong of [a, b, { ...a, attempt: 2, epoch: taken! }]) {
        await registry.releaseSession(wrong);
        await registry.quarantineSession(wrong, 'not yours');
      }
      expect(await registry.sessions()).toEqual(before);
      await registry.releaseSession({ ...a, epoch: taken! });
      expect(await registry.sessions()).toEqual([]);
    });
  });
}
