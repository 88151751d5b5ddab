import { describe, expect, it } from 'vitest';
import { arm, entry, insert, invoke, load, move, refusal, type Store } from '../support.ts';

export function testEffects(store: () => Store): void {
  describe('outbox and timers', () => {
    it('writes invokes as open work, in order', async () => {
      const { registry } = store();
      await insert(registry, 'a', { effects: [invoke('watch'), invoke('inject')] });
      await insert(registry, 'b', { effects: [invoke('watch')] });
      const work = await registry.openWork('a');
      expect(work.map(({ id: _, ...rest }) => rest)).toEqual(
        ['watch', 'inject'].map((invokeId) => ({
          job: 'a',
          attempt: 1,
          kind: 'invoke',
          invokeId,
          src: `${invokeId}Src`,
          input: { of: invokeId },
          open: true,
        })),
      );
      expect(new Set([...work, ...(await registry.openWork('b'))].map(({ id }) => id)).size).toBe(3);
    });

    it('closes by stop what is open of that invoke id, of that job', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [invoke('watch'), invoke('inject')] });
      await insert(registry, 'b', { effects: [invoke('watch')] });
      await registry.commit(row, move({ effects: [{ kind: 'stop', invokeId: 'watch' }] }));
      expect((await registry.openWork('a')).map(({ invokeId }) => invokeId)).toEqual(['inject']);
      expect(await registry.openWork('b')).toHaveLength(1);
    });

    it('keeps the order stop, invoke: the new one stays open', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [invoke('watch')] });
      const [old] = await registry.openWork('a');
      await registry.commit(row, move({ effects: [{ kind: 'stop', invokeId: 'watch' }, invoke('watch')] }));
      const open = await registry.openWork('a');
      expect(open).toHaveLength(1);
      expect(open[0]!.id).not.toBe(old!.id);
    });

    it('settles the outbox row of a result, only of its own job; a closed one is no obstacle', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [invoke('watch'), invoke('inject')] });
      const other = await insert(registry, 'b');
      const [watch] = await registry.openWork('a');
      await registry.commit(other, move({ cause: { outboxId: watch!.id } }));
      expect(await registry.openWork('a')).toHaveLength(2);
      expect(await registry.commit(row, move({ cause: { outboxId: watch!.id } }))).toBe(true);
      expect((await registry.openWork('a')).map(({ invokeId }) => invokeId)).toEqual(['inject']);
      expect(await registry.commit({ ...row, version: 2 }, move({ cause: { outboxId: watch!.id } }))).toBe(true);
      expect(await registry.load('a')).toMatchObject({ version: 3 });
    });

    it('settles by a refusal, too', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [invoke('watch'), arm('quiet', 5)] });
      const [watch] = await registry.openWork('a');
      await registry.commit(row, refusal({ cause: { outboxId: watch!.id, timer: { id: 'quiet', armedVersion: 1 } } }));
      expect(await registry.openWork('a')).toEqual([]);
      expect(await registry.timers('a')).toEqual([]);
      expect(await registry.load('a')).toMatchObject({ version: 1 });
    });

    it('arms timers at absolute times, soonest first, with the version that armed them', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a', { effects: [arm('deadline', 900)] });
      clock.advance(100);
      await registry.commit(row, move({ effects: [arm('idle', 50, true)] }));
      const timer = (id: string, armedVersion: number, fireAt: number, silence: boolean) => ({
        job: 'a',
        id,
        delay: id,
        armedVersion,
        fireAt,
        event: { type: `xstate.after.${id}.job` },
        silence,
      });
      expect(await registry.timers('a')).toEqual([
        timer('idle', 2, clock.now() + 50, true),
        timer('deadline', 1, clock.now() + 800, false),
      ]);
    });

    it('applies effects in the order given: disarm then arm leaves it armed, arm then disarm does not', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a', { effects: [arm('idle', 10), arm('quiet', 10)] });
      clock.advance(7);
      const effects = [
        { kind: 'disarm', timerId: 'idle' } as const,
        arm('idle', 20),
        arm('quiet', 20),
        { kind: 'disarm', timerId: 'quiet' } as const,
      ];
      await registry.commit(row, move({ effects }));
      expect(await registry.timers('a')).toMatchObject([{ id: 'idle', armedVersion: 2, fireAt: clock.now() + 20 }]);
    });

    it('arms anew what is still armed', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a', { effects: [arm('idle', 10)] });
      await registry.commit(row, move({ effects: [arm('idle', 30)] }));
      expect(await registry.timers('a')).toMatchObject([{ id: 'idle', armedVersion: 2, fireAt: clock.now() + 30 }]);
    });

    it('removes a fired timer only if nobody armed it anew', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [arm('idle', 10)] });
      await registry.commit(row, move({ effects: [arm('idle', 30)] }));
      await registry.commit({ ...row, version: 2 }, move({ cause: { timer: { id: 'idle', armedVersion: 1 } } }));
      expect(await registry.timers('a')).toHaveLength(1);
      await registry.commit({ ...row, version: 3 }, move({ cause: { timer: { id: 'idle', armedVersion: 2 } } }));
      expect(await registry.timers('a')).toEqual([]);
    });

    it('lets a fired timer arm itself again in the same commit', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a', { effects: [arm('diskPoll', 10)] });
      await registry.commit(
        row,
        move({ cause: { timer: { id: 'diskPoll', armedVersion: 1 } }, effects: [arm('diskPoll', 10)] }),
      );
      expect(await registry.timers('a')).toMatchObject([{ armedVersion: 2 }]);
    });

    it('keeps timers of different jobs apart', async () => {
      const { registry } = store();
      await insert(registry, 'a', { effects: [arm('idle', 10)] });
      const row = await insert(registry, 'b', { effects: [arm('idle', 10)] });
      await registry.commit(row, move({ effects: [{ kind: 'disarm', timerId: 'idle' }] }));
      expect(await registry.timers('a')).toHaveLength(1);
      expect(await registry.timers('b')).toEqual([]);
    });

    it('never gives an outbox id twice, so that a late result cannot settle another effect', async () => {
      const { registry } = store();
      const seen = new Set<number>();
      await insert(registry, 'a');
      for (let i = 0; i < 5; i++) {
        await registry.commit(await load(registry, 'a'), move({ effects: [invoke('watch')] }));
        const [work] = await registry.openWork('a');
        expect(seen.has(work!.id)).toBe(false);
        seen.add(work!.id);
        await registry.commit(await load(registry, 'a'), { cause: { outboxId: work!.id }, log: entry() });
      }
      expect(seen.size).toBe(5);
    });
  });
}
