// Brings one text to the agent: at most one paste and one Enter, and one more Enter where our text plainly stands unsubmitted.
// Each is a once step; whoever dies when, the text is never pasted again (docs/design.md section 7).
import type { Delivery } from '../../../machines/job/setup.ts';
import { type Hand, type OnceStep, type Place, PlaceError } from '../transport.ts';
import { TmuxError } from './client.ts';
import { holdUntilFree, holdUntilOurs } from './hold.ts';
import { inspectPaste } from './inspect.ts';
import { paste, press } from './keys.ts';
import { isMarkedBy } from './mark.ts';
import { nonceOf } from './prompt.ts';
import { pause } from './real-time.ts';
import { isFree, type Present, type Seen, see } from './see.ts';
import { holdsText, isReceived, isSameText, noteReceipt, readTyped, writeTyped } from './typed.ts';
import type { Typing } from './typing.ts';

/** The driver that marked the step knows that it did not act; left open, the step says no more than is known. */
class NotDone extends Error {
  override name = 'NotDone';
}

const KEY_LIMIT_MS = 10_000;

export async function type(typing: Typing): Promise<Delivery> {
  try {
    const step = await typing.hand.inspect(typing.steps.paste);
    const pasted = step.state === 'not-started' ? await pasteOnce(typing) : await inspectPaste(typing);
    return pasted === 'pasted' ? await submit(typing) : pasted;
  } catch (error) {
    // Whether the command was performed is not known; or nothing can be pasted here, and nothing was.
    if (error instanceof TmuxError || error instanceof PlaceError) return 'unknown';
    throw error;
  }
}

async function pasteOnce(typing: Typing): Promise<Delivery | 'pasted'> {
  const { parts, place, hand, which, steps, line } = typing;
  const free = await holdUntilFree(typing);
  if (!free) return 'unknown';
  const flags = await parts.pasteFlags(free.view.version);
  const look = () => see(parts, place, null);
  let seen: Seen;
  const step: OnceStep = {
    name: steps.paste,
    limitMs: KEY_LIMIT_MS,
    may: async () => {
      seen = await look();
      if (!isFree(seen) || !isMarkedBy(seen.view.mark, hand.fence)) return false;
      const { sight, agent, pane } = seen;
      // A record whose end cannot be found could not prove the receipt either.
      const position = await sight.position(agent).catch(() => undefined);
      if (position === undefined) return false;
      writeTyped(place.runDir, which, { ...sight.encode(line), pane, agent, position });
      return true;
    },
    act: () =>
      onFreshLook(typing, seen, look, isFree, (now) => {
        const typed = readTyped(place.runDir, which);
        if (!typed || typed.pane.pid !== now.pane.pid || typed.agent.pid !== now.agent.pid)
          return Promise.resolve(false);
        return paste(parts.tmux, flags, { pane: now.pane, fence: hand.fence }, typed.text);
      }),
  };
  switch (await once(hand, step)) {
    case 'done':
      return 'pasted';
    case 'withheld':
      return 'rejected';
    case 'unproven':
      return inspectPaste(typing);
    case 'lost':
      return 'unknown';
  }
}

async function submit(typing: Typing): Promise<Delivery> {
  const { steps, hand, parts } = typing;
  // Of steps that a former driver began there is nothing to wait for but the last one's evidence.
  const isLast = (await hand.inspect(steps.again)).state !== 'not-started';
  for (const name of isLast ? [steps.again] : [steps.enter, steps.again]) {
    const found = await holdUntilOurs(typing);
    if (found === 'received') return 'accepted';
    if (found === 'over' || hand.signal.aborted) return 'unknown';
    if (found === 'left') return (await hasEvidence(typing, 0)) ? 'accepted' : 'unknown';
    await pressEnter(typing, name);
    if (await hasEvidence(typing, parts.times.evidenceMs)) return 'accepted';
  }
  return 'unknown';
}

/** Withheld where the text does not plainly stand there any more. */
async function pressEnter(typing: Typing, name: string): Promise<void> {
  const { parts, place, hand, which } = typing;
  const typed = readTyped(place.runDir, which);
  const isOurs = (seen: Seen): seen is Present =>
    seen.there === 'agent' &&
    !seen.view.inMode &&
    seen.hold === 'draft' &&
    typed !== null &&
    isSameText(seen.composer, typed.text);
  const look = () => see(parts, place, typed);
  let seen: Seen;
  await once(hand, {
    name,
    limitMs: KEY_LIMIT_MS,
    may: async () => {
      seen = await look();
      return isOurs(seen) && isMarkedBy(seen.view.mark, hand.fence);
    },
    act: () =>
      onFreshLook(typing, seen, look, isOurs, ({ pane, view }) =>
        press(parts.tmux, { pane, fence: hand.fence, shows: shownNonce(place, view.text) }, [{ key: 'Enter' }]),
      ),
  });
}

/** Where the screen shows the nonce in one piece, tmux is to find it there at the moment of the key. */
function shownNonce(place: Place, screen: string): string | null {
  const nonce = nonceOf(place);
  return /^[\w./-]+$/.test(nonce) && screen.includes(nonce) ? nonce : null;
}

/** Acts on a look that is fresh by the monotonic clock, and looks again where it is not. Throws NotDone. */
async function onFreshLook(
  { parts, hand }: Typing,
  first: Seen,
  look: () => Promise<Seen>,
  allows: (seen: Seen) => seen is Present,
  act: (seen: Present) => Promise<boolean>,
): Promise<void> {
  const end = performance.now() + KEY_LIMIT_MS / 2;
  for (let seen = first; performance.now() < end && !hand.signal.aborted; seen = await look()) {
    if (!allows(seen)) break;
    if (performance.now() - seen.view.at > parts.times.freshMs) continue;
    if (await act(seen)) return;
    break;
  }
  throw new NotDone('the session was no longer as it had been seen');
}

async function once(hand: Hand, step: OnceStep) {
  try {
    return await hand.once(step);
  } catch (error) {
    if (error instanceof NotDone) return 'withheld' as const;
    throw error;
  }
}

/** The prompt is in the agent's record; or, where nobody can know that, the agent works and our text has left the composer. */
async function hasEvidence({ parts, place, hand, which }: Typing, ms: number): Promise<boolean> {
  const typed = readTyped(place.runDir, which);
  if (!typed) return false;
  for (const end = performance.now() + ms; ; ) {
    const seen = await see(parts, place, typed);
    const received = seen.sight ? await isReceived(seen.sight, place.runDir, which, typed) : false;
    if (received) return true;
    const hasBegun = seen.there === 'agent' && seen.turn !== 'settled' && seen.turn !== 'hidden';
    if (received === null && hasBegun && !holdsText(seen.composer, typed.text)) {
      noteReceipt(place.runDir, which);
      return true;
    }
    if (hand.signal.aborted || seen.there === 'nothing' || performance.now() >= end) return false;
    await pause(parts.times.pollMs / 5, hand.signal);
  }
}
