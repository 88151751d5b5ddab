// What a host looks for: rows that nobody drives, and rows that are somebody's from the first moment.
import { describe, expect, it } from 'vitest';
import type { EffectWrite } from '../../../src/kernel/ports.ts';
import {
  claim,
  driver,
  ended,
  entry,
  GAP_MS,
  insert,
  load,
  move,
  never,
  nextState,
  type Store,
  TTL_MS,
} from '../support.ts';

const cleanup = { kind: 'cleanup', input: [] } satisfies EffectWrite;

export function testOpenRows(store: () => Store): void {
  describe('open rows', () => {
    it('are those that are not finished or not cleaned up, oldest first, with who holds them', async () => {
      const { registry, clock } = store();
      for (const id of ['c', 'b', 'a', 'd']) await insert(registry, id);
      await claim(registry, 'b', 'd7');
      const a = await load(registry, 'a');
      await registry.commit(a, move({ next: ended(), effects: [cleanup] }));
      await registry.commit(await load(registry, 'd'), move({ next: ended() }));
      expect(await registry.openRows()).toEqual([
        { id: 'c', machine: 'job@1', phase: 'pending', driver: null, expiresAt: 0 },
        { id: 'b', machine: 'job@1', phase: 'pending', driver: driver('d7'), expiresAt: clock.now() + TTL_MS },
        { id: 'a', machine: 'job@1', phase: 'failed', driver: null, expiresAt: 0 },
      ]);
      await registry.commit(await load(registry, 'a'), { cleanupDone: true, log: entry() });
      expect((await registry.openRows()).map(({ id }) => id)).toEqual(['c', 'b']);
    });

    it('name nobody after a release, and a holder whose lease is over with its time', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a');
      const epoch = await claim(registry, 'a');
      const expiresAt = clock.now() + TTL_MS;
      clock.advance(TTL_MS + 1);
      expect(await registry.openRows()).toMatchObject([{ driver: driver('d1'), expiresAt }]);
      await registry.release('a', epoch);
      expect(await registry.openRows()).toMatchObject([{ driver: null }]);
      expect((await registry.openRows())[0]?.expiresAt).toBeLessThanOrEqual(clock.now());
    });
  });

  describe('a row that is born with a driver', () => {
    const born = (registry: Store['registry'], by = 'd1') =>
      registry.insert(
        { id: 'a', machine: 'job@1', session: 'human:a', spec: {} },
        { next: nextState(), log: entry({ from: 'kernel', what: 'registered' }) },
        { driver: driver(by), ttlMs: TTL_MS },
      );

    it('is its driver’s at once: no other can claim it, and its own claim changes nothing', async () => {
      const { registry, clock, open } = store();
      const row = await born(registry);
      expect(row).toMatchObject({ id: 'a', epoch: 1, version: 1 });
      expect(await registry.lease('a')).toMatchObject({
        driver: driver('d1'),
        epoch: 1,
        expiresAt: clock.now() + TTL_MS,
      });
      const other = await open();
      expect(await other.claim('a', driver('d2'), TTL_MS, GAP_MS, never)).toBeNull();
      expect(await registry.claim('a', driver('d1'), TTL_MS, GAP_MS, never)).toBe(1);
      const log = await registry.log({ job: 'a' });
      expect(log.map(({ what, epoch }) => [what, epoch])).toEqual([
        ['registered', 0],
        ['claimed', 1],
      ]);
    });

    it('is not made, nor its lease, where the id is taken', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      await expect(born(registry)).rejects.toMatchObject({ code: 'duplicate_id' });
      expect(await registry.lease('a')).toBeUndefined();
      expect(await registry.load('a')).toMatchObject({ epoch: 0 });
    });
  });
}
