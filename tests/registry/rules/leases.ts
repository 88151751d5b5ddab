import { describe, expect, it } from 'vitest';
import { arm, claim, driver, GAP_MS, insert, never, type Store, TTL_MS } from '../support.ts';

export function testLeases(store: () => Store): void {
  describe('leases', () => {
    it('gives a free row to who claims it, raises the epoch and logs who', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a');
      expect(await registry.lease('a')).toBeUndefined();
      expect(await claim(registry, 'a')).toBe(1);
      expect(await registry.lease('a')).toEqual({
        job: 'a',
        driver: driver('d1'),
        epoch: 1,
        expiresAt: clock.now() + TTL_MS,
        renewedAt: clock.now(),
      });
      expect(await registry.load('a')).toMatchObject({ epoch: 1, version: 1 });
      expect((await registry.log({})).at(-1)).toMatchObject({
        from: 'kernel',
        what: 'claimed',
        driver: 'd1',
        epoch: 1,
        version: 1,
      });
    });

    it('gives nothing where there is no row', async () => {
      const { registry } = store();
      expect(await registry.claim('a', driver('d1'), TTL_MS, GAP_MS, never)).toBeNull();
      expect(await registry.lease('a')).toBeUndefined();
      expect(await registry.log({})).toEqual([]);
    });

    it('refuses a second claimer until the lease is over', async () => {
      const { registry, clock, open } = store();
      const other = await open();
      await insert(registry, 'a');
      await claim(registry, 'a');
      const again = () => other.claim('a', driver('d2'), TTL_MS, GAP_MS, never);
      clock.advance(TTL_MS - 1);
      expect(await again()).toBeNull();
      expect(await registry.load('a')).toMatchObject({ epoch: 1 });
      clock.advance(1);
      expect(await again()).toBe(2);
      expect(await registry.lease('a')).toMatchObject({ driver: { id: 'd2' }, epoch: 2 });
    });

    it('replaces a holder that is proven dead at once, and asks about the very holder', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      await claim(registry, 'a');
      const asked: unknown[] = [];
      const epoch = await registry.claim('a', driver('d2'), TTL_MS, GAP_MS, (holder) => {
        asked.push(holder);
        return true;
      });
      expect(epoch).toBe(2);
      expect(asked).toEqual([driver('d1')]);
    });

    it('writes nothing when the question about the holder throws', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      await claim(registry, 'a');
      const asking = registry.claim('a', driver('d2'), TTL_MS, GAP_MS, () => {
        throw new Error('no process table');
      });
      await expect(asking).rejects.toThrow('no process table');
      expect(await registry.lease('a')).toMatchObject({ driver: { id: 'd1' }, epoch: 1 });
      expect(await claim(registry, 'a')).toBe(1);
    });

    it('gives the same epoch to the holder again, with the lease anew; after its end a new one', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a');
      await claim(registry, 'a');
      clock.advance(TTL_MS - 1);
      expect(await claim(registry, 'a')).toBe(1);
      expect(await registry.lease('a')).toMatchObject({ expiresAt: clock.now() + TTL_MS, renewedAt: clock.now() });
      expect((await registry.log({})).filter(({ what }) => what === 'claimed')).toHaveLength(1);
      clock.advance(TTL_MS);
      expect(await claim(registry, 'a')).toBe(2);
    });

    it('frees a row by release of the epoch that holds, and keeps when somebody last watched', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a');
      const epoch = await claim(registry, 'a');
      const renewedAt = clock.now();
      clock.advance(100);
      await registry.release('a', epoch + 1);
      expect(await registry.lease('a')).toMatchObject({ driver: { id: 'd1' } });
      await registry.release('a', epoch);
      expect(await registry.lease('a')).toMatchObject({ driver: null, epoch, renewedAt, expiresAt: clock.now() });
      expect(await claim(registry, 'a', 'd2')).toBe(2);
    });

    it('gives the former holder a new epoch after its release', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      await registry.release('a', await claim(registry, 'a'));
      expect(await claim(registry, 'a')).toBe(2);
    });

    it('renews what is still the driver’s own and tells the rest', async () => {
      const { registry, clock } = store();
      for (const id of ['a', 'b', 'c', 'd']) {
        await insert(registry, id);
        await claim(registry, id);
      }
      await registry.release('b', 1);
      await registry.claim('c', driver('d2'), TTL_MS, GAP_MS, () => true);
      clock.advance(5000);
      const all = ['a', 'b', 'c', 'd', 'ghost'].map((job) => ({ job, epoch: 1 }));
      expect(await registry.renew('d1', all, TTL_MS, GAP_MS)).toEqual(['b', 'c', 'ghost']);
      expect(await registry.lease('a')).toMatchObject({
        expiresAt: clock.now() + TTL_MS,
        renewedAt: clock.now(),
        epoch: 1,
      });
      expect(await registry.lease('d')).toMatchObject({ renewedAt: clock.now() });
      expect(await registry.lease('c')).toMatchObject({ driver: { id: 'd2' }, renewedAt: clock.now() - 5000 });
      expect(await registry.renew('d1', [{ job: 'a', epoch: 2 }], TTL_MS, GAP_MS)).toEqual(['a']);
      expect(await registry.renew('d1', [], TTL_MS, GAP_MS)).toEqual([]);
    });

    it('renews a lease that was over if nobody took it', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a');
      await claim(registry, 'a');
      clock.advance(3 * TTL_MS);
      expect(await registry.renew('d1', [{ job: 'a', epoch: 1 }], TTL_MS, GAP_MS)).toEqual([]);
      expect(await registry.lease('a')).toMatchObject({ driver: { id: 'd1' }, expiresAt: clock.now() + TTL_MS });
    });
  });

  describe('time in which nobody watched', () => {
    const effects = () => [arm('deadline', 500_000), arm('idle', 100_000, true)];
    const fireTimes = async ({ registry, clock }: Store) =>
      Object.fromEntries((await registry.timers('a')).map(({ id, fireAt }) => [id, fireAt - clock.now()]));
    const shifts = async ({ registry }: Store) =>
      (await registry.log({})).filter(({ what }) => what === 'clocks_shifted');

    it('shifts silence timers by the whole gap at a renewal, not the deadline, and logs it', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', { effects: effects() });
      await claim(registry, 'a');
      clock.advance(GAP_MS + 1);
      await registry.renew('d1', [{ job: 'a', epoch: 1 }], TTL_MS, GAP_MS);
      expect(await fireTimes(store())).toEqual({ deadline: 500_000 - GAP_MS - 1, idle: 100_000 });
      expect(await shifts(store())).toMatchObject([
        { from: 'kernel', job: 'a', version: 1, data: { gapMs: GAP_MS + 1 } },
      ]);
      // Only once: it is watched again.
      await registry.renew('d1', [{ job: 'a', epoch: 1 }], TTL_MS, GAP_MS);
      expect(await shifts(store())).toHaveLength(1);
    });

    it('shifts nothing for a gap that is not longer than the limit', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', { effects: effects() });
      await claim(registry, 'a');
      clock.advance(GAP_MS);
      await registry.renew('d1', [{ job: 'a', epoch: 1 }], TTL_MS, GAP_MS);
      expect(await fireTimes(store())).toEqual({ deadline: 500_000 - GAP_MS, idle: 100_000 - GAP_MS });
      expect(await shifts(store())).toEqual([]);
    });

    it('shifts when another driver claims after the gap, measured from the last renewal', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', { effects: effects() });
      await claim(registry, 'a');
      clock.advance(5000);
      await registry.renew('d1', [{ job: 'a', epoch: 1 }], TTL_MS, GAP_MS);
      clock.advance(80_000);
      await claim(registry, 'a', 'd2');
      expect(await fireTimes(store())).toEqual({ deadline: 415_000, idle: 95_000 });
      expect(await shifts(store())).toMatchObject([{ data: { gapMs: 80_000 }, epoch: 2 }]);
    });

    it('counts the time after a release from the last renewal', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', { effects: effects() });
      const epoch = await claim(registry, 'a');
      clock.advance(2000);
      await registry.release('a', epoch);
      clock.advance(GAP_MS);
      await claim(registry, 'a', 'd2');
      expect(await shifts(store())).toMatchObject([{ data: { gapMs: GAP_MS + 2000 } }]);
    });

    it('says nothing where no silence was measured', async () => {
      const { registry, clock } = store();
      await insert(registry, 'a', { effects: [arm('deadline', 500_000)] });
      await insert(registry, 'b', { effects: [arm('idle', 100_000, true)] });
      await claim(registry, 'a');
      clock.advance(2 * GAP_MS);
      await claim(registry, 'a', 'd2');
      expect(await shifts(store())).toEqual([]);
      expect(await registry.timers('b')).toMatchObject([{ fireAt: clock.now() + 100_000 - 2 * GAP_MS }]);
    });
  });
}
