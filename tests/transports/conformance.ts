// What every transport must keep, whatever it reaches the agent by. A transport's own test calls testTransport with a rig of
// its own; its capabilities decide which promises apply.
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DELIVERY_STEPS } from '../../machines/job/vocabulary.ts';
import {
  type Capabilities,
  type Fence,
  type Hand,
  type Owner,
  type Place,
  PlaceError,
  type Transport,
} from '../../src/transports/transport.ts';
import { type LiveRig, testLive } from './conformance-live.ts';
import { testMark } from './conformance-mark.ts';
import { eventually } from './eventually.ts';
import { createStepBook, type HandOptions, type StepBook } from './hand.ts';
import { watchers } from './leaks.ts';

export interface Rig {
  transport: Transport;
  /** The transport of another driver, over the same world. */
  second: Transport;
  /** A session that is free, with an agent that works on what it gets until finishTurn. */
  place: Place;
  unusable: { why: string; place: Place; says: RegExp }[];
  /** How many prompts reached an agent; null where nobody can know. */
  received(): number | null;
  /** Lets the agent's turn end by itself. */
  finishTurn(): Promise<void>;
  /** The turn came to its own end: it was not stopped. */
  finishedWork(): boolean;
  /** Of sessions that people use as well: all of them or none. */
  live?: LiveRig;
  /** Ends and removes everything; names what had been left that should have been gone. */
  dispose(): Promise<string[]>;
}

/** What parts of the suite in other files may use of the running test. */
export interface Suite {
  rig(): Rig;
  /** The steps of another attempt, from now on. */
  newBook(): void;
  hand(options?: Partial<HandOptions>): Promise<Hand>;
  /** Waits until so many prompts have arrived, where that can be known. */
  receivedSoon(count: number): Promise<void>;
}

export const owner = (epoch: number): Owner => ({
  registry: 'r1',
  job: 'j1',
  attempt: 1,
  epoch,
  pid: process.pid,
  started: 'x',
});
const yes = async () => true;

export function testTransport(name: string, capabilities: Capabilities, make: () => Promise<Rig>): void {
  describe(`${name}: what every transport keeps`, () => {
    let rig: Rig;
    let book: StepBook;
    let epoch: number;
    const suite: Suite = {
      rig: () => rig,
      newBook: () => {
        book = createStepBook();
      },
      hand: (options) => hand(options),
      receivedSoon: (count) => receivedSoon(count),
    };
    let filesBefore: string[];

    beforeEach(async () => {
      rig = await make();
      book = createStepBook();
      epoch = 0;
      filesBefore = readdirSync(rig.place.cwd);
    });
    afterEach(async () => {
      const { transport, place } = rig;
      await transport.reap(place, await take());
      const filesAfter = readdirSync(place.cwd);
      if (!capabilities.ownsAgent) await rig.finishTurn();
      const left = await rig.dispose();
      expect(left).toEqual([]);
      // A closed watcher goes with the next turn of the event loop.
      await eventually(() => watchers() === 0);
      expect(filesAfter).toEqual(filesBefore);
    });

    /** A new driver takes the session. */
    async function take(): Promise<Fence> {
      const fence = await rig.transport.takeMark(rig.place, owner(++epoch), yes);
      if (!fence) throw new Error('the mark was not given');
      return fence;
    }
    const hand = async (options: Partial<HandOptions> = {}) =>
      book.hand({ driver: `driver ${epoch}`, fence: options.fence ?? (await take()), ...options });
    const receivedSoon = async (count: number) => {
      if (rig.received() !== null) await eventually(() => rig.received() === count);
    };
    /** One step carried the prompt, and none of the others (an Enter) was done twice. */
    const expectEachOnce = () => {
      expect(book.acts.filter((act) => (DELIVERY_STEPS as readonly string[]).includes(act))).toHaveLength(1);
      expect(new Set(book.acts).size).toBe(book.acts.length);
    };
    const expectReceived = (count: number) => expect(rig.received() ?? count).toBe(count);

    it('says what it can', () => expect(rig.transport.capabilities).toEqual(capabilities));

    describe('preflight', () => {
      it('passes a usable place', async () => {
        await expect(rig.transport.preflight(rig.place)).resolves.toBeUndefined();
      });

      it('refuses each unusable place with a sentence, and changes nothing', async () => {
        expect(rig.unusable.length).toBeGreaterThan(0);
        for (const { why, place, says } of rig.unusable) {
          const error = await rig.transport.preflight(place).then(
            () => null,
            (reason: unknown) => reason,
          );
          expect(error, why).toBeInstanceOf(PlaceError);
          expect((error as PlaceError).message, why).toMatch(says);
        }
        expectReceived(0);
      });
    });

    describe('delivery', () => {
      it('brings the prompt once, however often it is asked', async () => {
        const same = await hand();
        expect(await rig.transport.inject(rig.place, same)).toBe('accepted');
        expect(await rig.transport.inject(rig.place, same)).toBe('accepted');
        expect(await rig.second.inject(rig.place, await hand())).toBe('accepted');
        await receivedSoon(1);
        expectEachOnce();
      });

      it('brings it once when several drivers try at the same time', async () => {
        const fence = await take();
        const tries = [1, 2, 3, 4].map(async (driver) => {
          const transport = driver % 2 ? rig.transport : rig.second;
          return transport.inject(rig.place, await hand({ fence, driver: `driver ${driver}` }));
        });
        const deliveries = await Promise.all(tries);
        await receivedSoon(1);
        expectEachOnce();
        expect(deliveries).toContain('accepted');
        expect(deliveries).not.toContain('rejected');
      });

      it('brings nothing when the step is withheld, then or later', async () => {
        expect(await rig.transport.inject(rig.place, await hand({ revoked: 'after-mark' }))).toBe('rejected');
        expect(await rig.second.inject(rig.place, await hand())).toBe('rejected');
        expect(book.acts).toEqual([]);
        expectReceived(0);
      });

      it('brings nothing when the right to act is lost, and claims nothing', async () => {
        expect(await rig.transport.inject(rig.place, await hand({ revoked: 'before-mark' }))).toBe('unknown');
        expect(book.acts).toEqual([]);
        expectReceived(0);
      });

      it('brings nothing when aborted before', async () => {
        const delivery = await rig.transport.inject(rig.place, await hand({ signal: AbortSignal.abort() }));
        expect(delivery).not.toBe('accepted');
        expect(book.acts).toEqual([]);
        expectReceived(0);
      });

      for (const dies of ['after-mark', 'after-act'] as const) {
        it(`says the truth about a step whose driver died ${dies.replace('-', ' the ')}`, async () => {
          await expect(rig.transport.inject(rig.place, await hand({ dies }))).rejects.toThrow('died');
          const delivery = await rig.second.inject(rig.place, await hand());
          expect(await rig.second.inject(rig.place, await hand())).toBe(delivery);
          if (delivery === 'accepted') await receivedSoon(1);
          if (delivery === 'rejected') expectReceived(0);
          if (dies === 'after-act') expect(delivery).not.toBe('rejected');
          expect(rig.received() ?? 0).toBeLessThanOrEqual(1);
        });
      }
    });

    testMark(capabilities, suite);
    if (capabilities.seesDialogs && capabilities.reminds) testLive(suite);

    describe('a look', () => {
      it('finds a session untouched before', async () => {
        const seen = await rig.transport.look(rig.place);
        expect(seen).toMatchObject({ alive: true, hold: null, nonce: false, clean: true });
      });

      if (capabilities.observesTurn) {
        it('sees our turn, by every driver, and its end', async () => {
          await rig.transport.inject(rig.place, await hand());
          for (const transport of [rig.transport, rig.second]) {
            await eventually(async () => (await transport.look(rig.place)).turn === 'working');
            expect(await transport.look(rig.place)).toMatchObject({
              nonce: true,
              clean: false,
              hold: 'busy',
              alive: true,
            });
          }
          await rig.finishTurn();
          await eventually(async () => {
            await rig.transport.change(rig.place, 1_000, new AbortController().signal);
            return (await rig.transport.look(rig.place)).clean;
          });
          const after = await rig.second.look(rig.place);
          expect(after).toMatchObject({ clean: true, nonce: true, alive: !capabilities.ownsAgent });
        });
      } else {
        it('claims no turn that it cannot see', async () => {
          await rig.transport.inject(rig.place, await hand());
          expect(await rig.transport.look(rig.place)).toMatchObject({ alive: true, turn: 'hidden' });
        });
      }
    });

    describe('change', () => {
      it('ends by time', async () => {
        await expect(rig.transport.change(rig.place, 1, new AbortController().signal)).resolves.toBeUndefined();
      });

      it('ends at once when aborted, before or meanwhile', async () => {
        const never = 2 ** 31 - 1;
        await rig.transport.change(rig.place, never, AbortSignal.abort());
        const later = new AbortController();
        const waiting = rig.transport.change(rig.place, never, later.signal);
        later.abort();
        await waiting;
      });
    });

    describe('the end', () => {
      it('does nothing to a session where nothing was begun', async () => {
        const fence = await take();
        await rig.transport.interrupt(rig.place, fence);
        await rig.transport.clearOwnText(rig.place, fence);
        await rig.transport.remind(rig.place, await hand({ fence }));
        expect(await rig.transport.look(rig.place)).toMatchObject({ hold: null, clean: true, alive: true });
        expectReceived(0);
      });

      if (capabilities.ownsAgent) {
        it('interrupts a turn of ours, twice without harm', async () => {
          const fence = await take();
          await rig.transport.inject(rig.place, await hand({ fence }));
          await receivedSoon(1);
          await rig.transport.interrupt(rig.place, fence);
          await rig.transport.interrupt(rig.place, fence);
          await eventually(async () => !(await rig.transport.look(rig.place)).alive);
          await rig.transport.interrupt(rig.place, fence);
        });

        it('reaps what runs, by any driver, twice without harm', async () => {
          await rig.transport.inject(rig.place, await hand());
          await receivedSoon(1);
          const fence = await take();
          await Promise.all([rig.second.reap(rig.place, fence), rig.transport.reap(rig.place, fence)]);
          await rig.second.reap(rig.place, fence);
          expect(await rig.transport.look(rig.place)).toMatchObject({ alive: false, clean: true, turn: 'hidden' });
        });

        it('lets nothing start after a reap', async () => {
          await rig.transport.reap(rig.place, await take());
          expect(await rig.second.inject(rig.place, await hand())).toBe('rejected');
          expectReceived(0);
          expect(await rig.transport.look(rig.place)).toMatchObject({ alive: false, clean: true, nonce: false });
        });
      }
    });
  });
}
