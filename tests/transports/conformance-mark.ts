// The session's mark, as part of the conformance suite: it only grows, and an old number can do nothing.
import { describe, expect, it } from 'vitest';
import type { Capabilities, Owner, Transport } from '../../src/transports/transport.ts';
import { owner, type Suite } from './conformance.ts';
import { eventually } from './eventually.ts';

const yes = async () => true;
const no = async () => false;

export function testMark(capabilities: Capabilities, suite: Suite): void {
  const { rig } = suite;
  describe('the mark', () => {
    const take = (by: Transport, mayReplace: (holder: Owner) => Promise<boolean>, epoch = 1) =>
      by.takeMark(rig().place, owner(epoch), mayReplace);

    it('only grows, and whoever holds it is asked about', async () => {
      const first = await take(rig().transport, no, 7);
      expect(first).not.toBeNull();
      const asked: Owner[] = [];
      const refuse = async (holder: Owner) => {
        asked.push(holder);
        return false;
      };
      expect(await take(rig().second, refuse)).toBeNull();
      expect(asked).toEqual([owner(7)]);
      const next = await take(rig().second, yes);
      expect(next!.mark).toBeGreaterThan(first!.mark);
    });

    it('is free again after a drop, with its number kept', async () => {
      const first = await take(rig().transport, no);
      await rig().transport.dropMark(rig().place, first!);
      await rig().transport.dropMark(rig().place, first!);
      const next = await take(rig().second, no);
      expect(next!.mark).toBeGreaterThan(first!.mark);
      await rig().transport.dropMark(rig().place, first!);
      expect(await take(rig().transport, no)).toBeNull();
    });

    it('goes to one of many who want it at once', async () => {
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, i) => take(i % 2 ? rig().transport : rig().second, no)),
      );
      expect(taken.filter((fence) => fence !== null)).toHaveLength(1);
    });

    if (capabilities.fences) {
      it('stops a driver that slept: it can neither inject, interrupt, clear nor reap', async () => {
        const old = await take(rig().transport, yes);
        const present = await take(rig().second, yes, 2);
        const meddle = async () => {
          await rig().transport.interrupt(rig().place, old!);
          await rig().transport.clearOwnText(rig().place, old!);
          await rig().transport.reap(rig().place, old!);
        };
        expect(await rig().transport.inject(rig().place, await suite.hand({ fence: old! }))).not.toBe('accepted');
        await meddle();
        expect(rig().received() ?? 0).toBe(0);

        suite.newBook();
        expect(await rig().second.inject(rig().place, await suite.hand({ fence: present! }))).toBe('accepted');
        await suite.receivedSoon(1);
        await meddle();
        expect(await rig().transport.look(rig().place)).toMatchObject({ clean: false, nonce: true });
        await rig().finishTurn();
        await eventually(async () => (await rig().second.look(rig().place)).hold === null);
        expect(rig().finishedWork()).toBe(true);
      });

      it('obeys the newest', async () => {
        const fence = await take(rig().transport, yes);
        await rig().transport.inject(rig().place, await suite.hand({ fence: fence! }));
        await suite.receivedSoon(1);
        await rig().second.interrupt(rig().place, fence!);
        await eventually(async () => (await rig().second.look(rig().place)).hold === null);
        expect(rig().finishedWork()).toBe(false);
      });
    }
  });
}
