// What every transport must keep that types into a session people use as well: the person's text, their dialogs, and one submission of
// ours whoever dies when. Part of the conformance suite where the rig is a live one.
import { describe, expect, it } from 'vitest';
import type { Hold } from '../../machines/job/vocabulary.ts';
import type { Fence, Hand } from '../../src/transports/transport.ts';
import { owner, type Suite } from './conformance.ts';
import { eventually } from './eventually.ts';
import { createStepBook } from './hand.ts';

/** The person at the same keyboard, and what the agent went through. */
export interface LiveRig {
  draft(text: string): Promise<void>;
  emptyComposer(): Promise<void>;
  openDialog(): Promise<void>;
  closeDialog(): Promise<void>;
  /** The next Enter does nothing. */
  loseEnter(): Promise<void>;
  /** Null: it cannot be seen. */
  composer(): Promise<string | null>;
  /** How many dialogs were answered by a key. */
  approvals(): number;
  interrupts(): number;
}

const STEPS = ['paste', 'enter', 'enter-again'] as const;

export function testLive(suite: Suite): void {
  const { rig } = suite;
  const live = () => rig().live!;

  /** A hand that tells what it was held by. */
  const listening = async (): Promise<{ hand: Hand; holds: Hold[] }> => {
    const holds: Hold[] = [];
    const hand = await suite.hand();
    return { holds, hand: { ...hand, hold: async (hold) => void holds.push(hold) } };
  };
  const take = async (epoch: number): Promise<Fence> => {
    const fence = await rig().transport.takeMark(rig().place, owner(epoch), async () => true);
    if (!fence) throw new Error('the mark was not given');
    return fence;
  };

  describe('a person at the same keyboard', () => {
    it('has a draft: held, and delivered when it is gone', async () => {
      await live().draft('half a thought');
      expect(await rig().transport.look(rig().place)).toMatchObject({ hold: 'draft', clean: true, turn: 'settled' });
      const { hand, holds } = await listening();
      const injecting = rig().transport.inject(rig().place, hand);
      await eventually(() => holds.includes('draft'));
      expect(await live().composer()).toBe('half a thought');
      expect(rig().received()).toBe(0);
      await live().emptyComposer();
      expect(await injecting).toBe('accepted');
      await suite.receivedSoon(1);
    });

    it('has a dialog open: held, nothing typed and nothing answered', async () => {
      await live().openDialog();
      expect(await rig().transport.look(rig().place)).toMatchObject({ hold: 'dialog', turn: 'blocked' });
      const { hand, holds } = await listening();
      const injecting = rig().transport.inject(rig().place, hand);
      await eventually(() => holds.includes('dialog'));
      expect(live().approvals()).toBe(0);
      await live().closeDialog();
      expect(await injecting).toBe('accepted');
      await suite.receivedSoon(1);
      expect(live().approvals()).toBe(0);
    });

    it('stops a held delivery, and nothing was typed', async () => {
      await live().draft('mine');
      const { hand, holds } = await listening();
      const stop = new AbortController();
      const injecting = rig().transport.inject(rig().place, { ...hand, signal: stop.signal });
      await eventually(() => holds.length > 0);
      stop.abort();
      expect(await injecting).toBe('unknown');
      expect(await live().composer()).toBe('mine');
      await live().emptyComposer();
    });
  });

  describe('between paste and Enter', () => {
    /** Injects, and does something right after the paste. */
    const injectWith = async (afterPaste: () => Promise<void>) => {
      const { hand, holds } = await listening();
      const once: Hand['once'] = async (step) => {
        const outcome = await hand.once(step);
        if (step.name === 'paste') {
          await eventually(async () => (await live().composer()) !== '');
          await afterPaste();
        }
        return outcome;
      };
      return { holds, fence: hand.fence, injecting: rig().transport.inject(rig().place, { ...hand, once }) };
    };

    it('a dialog opens: Enter waits for its end', async () => {
      const { holds, injecting } = await injectWith(() => live().openDialog());
      await eventually(() => holds.includes('dialog'));
      expect(live().approvals()).toBe(0);
      await live().closeDialog();
      expect(await injecting).toBe('accepted');
      expect(live().approvals()).toBe(0);
      await suite.receivedSoon(1);
    });

    it('a person types beside our text: Enter waits until ours stands alone', async () => {
      const { holds, fence, injecting } = await injectWith(() => live().draft(' and mine'));
      await eventually(() => holds.includes('draft'));
      // Cleanup does not touch it either: it would take their words as well.
      const both = await live().composer();
      await rig().second.clearOwnText(rig().place, fence);
      expect(await rig().second.look(rig().place)).toMatchObject({ clean: false, hold: 'draft' });
      expect(await live().composer()).toBe(both);
      expect(rig().received()).toBe(0);
      await live().emptyComposer();
      expect(await injecting).toBe('unknown');
      expect(rig().received()).toBe(0);
    });

    it('an Enter that was lost is sent once more, the text is not', async () => {
      await live().loseEnter();
      expect(await rig().transport.inject(rig().place, await suite.hand())).toBe('accepted');
      await suite.receivedSoon(1);
    });

    it('two lost Enters: unknown, and our text is taken back', async () => {
      await live().loseEnter();
      await live().loseEnter();
      expect(await rig().transport.inject(rig().place, await suite.hand())).toBe('unknown');
      expect(await rig().transport.look(rig().place)).toMatchObject({ clean: false, hold: 'draft' });
      const fence = await take(90);
      await rig().second.clearOwnText(rig().place, fence);
      await eventually(async () => (await live().composer()) === '');
      expect(await rig().second.look(rig().place)).toMatchObject({ clean: true, hold: null, nonce: false });
      expect(rig().received()).toBe(0);
    });
  });

  describe('the driver dies', () => {
    for (const step of STEPS) {
      for (const dies of ['after-mark', 'after-act'] as const) {
        it(`at ${step}, ${dies.replace('-', ' the ')}: submitted once at the most, and the answer is true`, async () => {
          const book = createStepBook();
          if (step === 'enter-again') await live().loseEnter();
          const fence = await take(50);
          const dying = book.hand({ driver: 'first', fence, dies });
          const living = book.hand({ driver: 'first', fence });
          const first: Hand = { ...living, once: (one) => (one.name === step ? dying : living).once(one) };
          await expect(rig().transport.inject(rig().place, first)).rejects.toThrow('died');

          const hand = book.hand({ driver: 'second', fence: await take(51) });
          const delivery = await rig().second.inject(rig().place, hand);
          const expected = { paste: 'rejected', enter: 'accepted', 'enter-again': 'unknown' };
          expect(delivery).toBe(dies === 'after-act' ? 'accepted' : expected[step]);
          expect(rig().received()).toBe(delivery === 'accepted' ? 1 : 0);
          const third = book.hand({ driver: 'third', fence: await take(52) });
          expect(await rig().transport.inject(rig().place, third)).toBe(delivery);
          expect(rig().received()).toBe(delivery === 'accepted' ? 1 : 0);
          await rig().transport.clearOwnText(rig().place, third.fence);
          await eventually(async () => (await live().composer()) === '');
        });
      }
    }
  });

  describe('the reminder', () => {
    it('is typed once, after the turn, whoever asks', async () => {
      const hand = await suite.hand();
      await rig().transport.inject(rig().place, hand);
      await suite.receivedSoon(1);
      await rig().finishTurn();
      await rig().transport.remind(rig().place, hand);
      await rig().transport.remind(rig().place, hand);
      await rig().second.remind(rig().place, await suite.hand());
      await suite.receivedSoon(2);
      await rig().finishTurn();
      await rig().second.remind(rig().place, await suite.hand());
      expect(rig().received()).toBe(2);
      expect(await rig().transport.look(rig().place)).toMatchObject({ hold: null, clean: true, nonce: true });
    });
  });

  describe('the end of a turn of ours', () => {
    it('is asked for by a key only while it works: a dialog is not answered', async () => {
      const fence = await take(1);
      await rig().transport.inject(rig().place, await suite.hand({ fence }));
      await suite.receivedSoon(1);
      await live().openDialog();
      await rig().transport.interrupt(rig().place, fence);
      expect(live().interrupts()).toBe(0);
      expect(await rig().transport.look(rig().place)).toMatchObject({ turn: 'blocked', hold: 'dialog', clean: false });
      await live().closeDialog();
      await rig().transport.interrupt(rig().place, fence);
      await eventually(() => live().interrupts() === 1);
      await eventually(async () => (await rig().transport.look(rig().place)).clean);
    });

    it('leaves a turn of the person alone', async () => {
      const fence = await take(1);
      await rig().transport.interrupt(rig().place, fence);
      await live().draft('my own work');
      await rig().transport.clearOwnText(rig().place, fence);
      expect(await live().composer()).toBe('my own work');
      await live().emptyComposer();
      expect(live().interrupts()).toBe(0);
    });
  });
}
