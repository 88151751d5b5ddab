// A transport that types into the simulated pane: the model of what a terminal multiplexer's transport has to do. At most one
// paste and one Enter for a text, whoever dies when; after that only looking (docs/design.md section 7).
import type { Delivery } from '../../machines/job/setup.ts';
import type { Hand, Look, Place, Transport } from '../../src/transports/transport.ts';
import type { Life } from './scheduler.ts';
import type { PaneWorld, Screen } from './world-pane.ts';

const EVIDENCE_MS = 10_000;
const SECOND_LOOK_MS = 5_000;
const POLL_MS = 1_000;
const KEY_LIMIT_MS = 10_000;

interface Typing {
  text: string;
  paste: string;
  enter: string;
  again: string;
}

const promptOf = ({ job, attempt }: Place): Typing => ({
  text: `prompt ${job}/${attempt}`,
  paste: 'paste',
  enter: 'enter',
  again: 'enter-again',
});
const reminderOf = ({ job, attempt }: Place): Typing => ({
  text: `remind ${job}/${attempt}`,
  paste: 'remind-paste',
  enter: 'remind-enter',
  again: 'remind-enter-again',
});

const isFree = (screen: Screen): boolean =>
  screen.alive && screen.readable && !screen.dialog && !screen.busy && screen.composer === '';
const holdsExactly = (screen: Screen, text: string): boolean =>
  screen.alive && screen.readable && !screen.dialog && screen.composer === text;
const holdOf = (screen: Screen): Look['hold'] => {
  if (isFree(screen)) return null;
  if (screen.dialog) return 'dialog';
  return screen.busy || !screen.readable ? 'busy' : 'draft';
};

export function paneTransport(world: PaneWorld, life: Life): Transport {
  const { scheduler, options } = world.parts;
  const pass = (label: string) => scheduler.pass(life, label);
  const textsOf = (place: Place) => [promptOf(place).text, reminderOf(place).text];
  const looking = async (label = 'look'): Promise<Screen> => {
    await pass(label);
    return world.screen();
  };

  /** Only ours: the newest prompt in the record. */
  const runsOurs = (screen: Screen, place: Place): boolean =>
    screen.alive &&
    screen.readable &&
    screen.busy &&
    !screen.dialog &&
    textsOf(place).includes(screen.prompts.at(-1) ?? '');

  async function type(place: Place, hand: Hand, typing: Typing): Promise<Delivery> {
    const step = await hand.inspect(typing.paste);
    const pasted = step.state === 'not-started' ? await paste(place, hand, typing) : await inspectPaste(hand, typing);
    if (pasted !== 'in-composer') return pasted;
    await submit(place, hand, typing, typing.enter);
    if (await isRecorded(hand, typing)) return 'accepted';
    // One more Enter, as a step of its own, if our text is still plainly there; never the text again.
    if (holdsExactly(await looking(), typing.text)) {
      await submit(place, hand, typing, typing.again);
      if (await isRecorded(hand, typing)) return 'accepted';
    }
    return 'unknown';
  }

  async function paste(place: Place, hand: Hand, { text, paste: name }: Typing): Promise<Delivery | 'in-composer'> {
    await holdUntil(hand, isFree);
    if (hand.signal.aborted) return 'unknown';
    const outcome = await press(hand, name, isFree, () => world.paste(text, place, hand.fence));
    if (outcome === 'done') return 'in-composer';
    return outcome === 'withheld' ? 'rejected' : 'unknown';
  }

  /** A former driver marked the paste. Never paste again: find out whether it happened. */
  async function inspectPaste(hand: Hand, typing: Typing): Promise<Delivery | 'in-composer'> {
    const mark = await hand.inspect(typing.paste);
    if (mark.state === 'withheld') return 'rejected';
    const first = await looking('inspect paste');
    if (first.composer === typing.text) return 'in-composer';
    if (first.prompts.includes(typing.text)) return 'accepted';
    if (mark.state === 'done') return (await isRecorded(hand, typing)) ? 'accepted' : 'unknown';
    const neverSubmitted = (await hand.inspect(typing.enter)).state === 'not-started';
    if (!mark.dead || !neverSubmitted || !isFree(first)) return 'unknown';
    await hand.sleep(SECOND_LOOK_MS);
    const second = await looking('inspect paste');
    return isFree(second) && !second.prompts.includes(typing.text) ? 'rejected' : 'unknown';
  }

  async function submit(place: Place, hand: Hand, { text }: Typing, name: string): Promise<void> {
    // A draft beside our text, a dialog over it: held, said, and only then Enter.
    await holdUntil(hand, (s) => !s.alive || (s.readable && !s.composer.includes(text)) || holdsExactly(s, text));
    if (hand.signal.aborted || !holdsExactly(await looking(), text)) return;
    await press(
      hand,
      name,
      (screen) => holdsExactly(screen, text),
      () => world.enter(place, hand.fence),
    );
  }

  /** The last look and the key in one action; a key that the session refuses is withheld. */
  function press(hand: Hand, name: string, allows: (screen: Screen) => boolean, act: () => void) {
    const seenBefore = options.sameBreath === false ? allows(world.screen()) : null;
    return hand.once({
      name,
      limitMs: KEY_LIMIT_MS,
      may: async () => {
        await pass(`${name}:before`);
        return seenBefore ?? (allows(world.screen()) && world.admits(hand.fence));
      },
      act: async () => {
        act();
        await pass(`${name}:after`);
      },
    });
  }

  async function isRecorded(hand: Hand, { text }: Typing): Promise<boolean> {
    for (const until = scheduler.now + EVIDENCE_MS; scheduler.now < until && !hand.signal.aborted; ) {
      if ((await looking('evidence')).prompts.includes(text)) return true;
      await hand.sleep(POLL_MS);
    }
    return false;
  }

  async function holdUntil(hand: Hand, ready: (screen: Screen) => boolean): Promise<void> {
    let told: Look['hold'] = null;
    for (;;) {
      const screen = await looking('holding');
      if (hand.signal.aborted || ready(screen)) return;
      const hold = holdOf(screen) ?? 'draft';
      if (hold !== told) await hand.hold(hold);
      told = hold;
      await hand.sleep(POLL_MS);
    }
  }

  return {
    name: 'human',
    capabilities: {
      observesTurn: true,
      seesDialogs: true,
      ownsAgent: false,
      fences: true,
      reminds: true,
      settleMs: 60_000,
    },
    async preflight() {
      if (!(await looking()).alive) throw new Error('the pane is closed');
    },
    async look(place) {
      const screen = await looking();
      const { alive, readable, dialog, busy, composer, prompts } = screen;
      const settledOrWorking = busy ? 'working' : 'settled';
      return {
        alive,
        hold: holdOf(screen),
        turn: !readable ? 'hidden' : dialog ? 'blocked' : settledOrWorking,
        nonce: prompts.includes(promptOf(place).text),
        clean: !alive || (readable && !dialog && !busy && !textsOf(place).some((text) => composer.includes(text))),
        detail: null,
      };
    },
    change: (_, ms, signal) => scheduler.sleep(life, ms, signal),
    async takeMark(_, owner, mayReplace) {
      for (;;) {
        await pass('mark:before');
        const { number, holder } = world.holder();
        if (holder && !(await mayReplace(holder))) return null;
        await pass('mark:raise');
        if (!world.raiseMark(number, owner)) continue;
        await pass('mark:after');
        return { mark: number + 1 };
      }
    },
    async dropMark(_, fence) {
      await pass('drop-mark:before');
      world.dropMark(fence);
      await pass('drop-mark:after');
    },
    inject: (place, hand) => type(place, hand, promptOf(place)),
    remind: async (place, hand) => void (await type(place, hand, reminderOf(place))),
    async interrupt(place, fence) {
      await pass('interrupt:before');
      // Whose look and key are not one action presses whatever is open by now.
      if (options.sameBreath === false || runsOurs(world.screen(), place)) world.interrupt(place, fence);
      await pass('interrupt:after');
    },
    async clearOwnText(place, fence) {
      await pass('clear:before');
      // Look and clear in one action. A draft beside our text is the person's: then nothing is touched.
      const screen = world.screen();
      if (textsOf(place).some((text) => holdsExactly(screen, text))) world.clear(place, fence);
      await pass('clear:after');
    },
    reap: async () => {},
  };
}
