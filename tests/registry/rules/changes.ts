import { describe, expect, it, vi } from 'vitest';
import {
  cancel,
  claim,
  driver,
  GAP_MS,
  insert,
  move,
  never,
  PATIENTLY,
  refusal,
  type Store,
  TTL_MS,
} from '../support.ts';

/** A call back for an own commit comes within one turn of the event loop, if it comes. */
const turnsOfTheLoop = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
};

export function testChanges(store: () => Store): void {
  describe('changes', () => {
    it('calls back after what another connection committed', async () => {
      const { registry, open } = store();
      const other = await open();
      await insert(registry, 'a');
      const seen = vi.fn();
      const stop = other.onChange(seen);
      await registry.deliver(cancel('r1'), 'a', 'inbox');
      await expect.poll(() => seen.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
      expect(await other.jobsWithUndecided()).toEqual(['a']);
      stop();
    });

    it('calls back after its own commits', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      const seen = vi.fn();
      const stop = registry.onChange(seen);
      await registry.commit(row, refusal());
      await expect.poll(() => seen.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
      stop();
    });

    it('does not call back for what changed nothing', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      await claim(registry, 'a');
      await registry.deliver(cancel('r1'), 'a', 'inbox');
      const seen = vi.fn();
      const stop = registry.onChange(seen);
      await registry.commit(row, move());
      await registry.claim('a', driver('d2'), TTL_MS, GAP_MS, never);
      await registry.deliver(cancel('r1'), 'a', 'inbox');
      await registry.release('a', 9);
      await registry.renew('d2', [{ job: 'a', epoch: 7 }], TTL_MS, GAP_MS);
      await registry.acquireSession(row);
      await turnsOfTheLoop();
      expect(seen).not.toHaveBeenCalled();
      // What it would have heard by now, it hears of the next commit.
      await registry.commit({ ...row, epoch: 1 }, refusal());
      await expect.poll(() => seen.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
      stop();
    });

    it('stops one listener and leaves the others, even the same function', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      const [gone, stays] = [vi.fn(), vi.fn()];
      const stop = [registry.onChange(gone), registry.onChange(stays), registry.onChange(gone)];
      stop[0]!();
      stop[0]!();
      stop[2]!();
      await registry.commit(row, refusal());
      await expect.poll(() => stays.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
      await turnsOfTheLoop();
      expect(gone).not.toHaveBeenCalled();
      stop[1]!();
    });

    it('can be listened to again after everybody had stopped', async () => {
      const { registry, open } = store();
      const other = await open();
      const row = await insert(registry, 'a');
      other.onChange(() => {})();
      const seen = vi.fn();
      const stop = other.onChange(seen);
      await registry.commit(row, refusal());
      await expect.poll(() => seen.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
      stop();
    });
  });

  describe('close', () => {
    it('may be called twice; afterwards every call says so', async () => {
      const { open } = store();
      const other = await open();
      other.onChange(() => {});
      await other.close();
      await other.close();
      await expect(other.load('a')).rejects.toMatchObject({ name: 'RegistryError', code: 'unreachable' });
      await expect(insert(other, 'a')).rejects.toMatchObject({ code: 'unreachable' });
    });
  });
}
