// A driver finds that a former one marked the paste. Whether it happened is found out by looking, never by pasting.
import type { Delivery } from '../../../machines/job/setup.ts';
import { pause } from './real-time.ts';
import { isFree, type Seen, see } from './see.ts';
import { isReceived, isSameText, readTyped, type Typed } from './typed.ts';
import type { Typing } from './typing.ts';

/** `pasted`: it may be there; from here on only our own text in the composer leads to a key. */
export async function inspectPaste(typing: Typing): Promise<Delivery | 'pasted'> {
  const { place, hand, which, steps } = typing;
  const mark = await hand.inspect(steps.paste);
  if (mark.state === 'withheld') return 'rejected';
  const typed = readTyped(place.runDir, which);
  const first = await lookAtRecordToo(typing, typed);
  if (first === 'received') return 'accepted';
  if (typed && first.there === 'agent' && isSameText(first.composer, typed.text)) return 'pasted';
  if (mark.state === 'done') return 'pasted';
  if ((await hand.inspect(steps.enter)).state !== 'not-started') return 'pasted';
  // A driver that may still live may still paste; one that is dead cannot, and an Enter was never begun.
  if (!mark.dead) return 'unknown';
  return neverHappened(typing, typed);
}

/** Two looks, far enough apart for a paste that was under way when its driver died. */
async function neverHappened(typing: Typing, typed: Typed | null): Promise<Delivery | 'pasted'> {
  const { parts, hand } = typing;
  for (let freeSince: number | null = null; !hand.signal.aborted; ) {
    const seen = await lookAtRecordToo(typing, typed);
    if (seen === 'received') return 'accepted';
    if (seen.there === 'nothing') return 'unknown';
    if (typed && seen.there === 'agent' && isSameText(seen.composer, typed.text)) return 'pasted';
    if (isFree(seen)) {
      freeSince ??= seen.view.at;
      if (seen.view.at - freeSince >= parts.times.secondLookMs) return 'rejected';
    } else {
      const isHidden = seen.there === 'unknown' || seen.view.inMode || seen.hold === 'dialog' || seen.composer === null;
      // What a dialog or a scrolled screen hides is waited for; anything else that stands or runs there proves nothing.
      if (!isHidden) return 'unknown';
      freeSince = null;
      await hand.hold(seen.there === 'agent' ? (seen.hold ?? 'busy') : 'busy');
    }
    await pause(Math.min(parts.times.pollMs, parts.times.secondLookMs), hand.signal);
  }
  return 'unknown';
}

async function lookAtRecordToo({ parts, place, which, line }: Typing, typed: Typed | null): Promise<Seen | 'received'> {
  const seen = await see(parts, place, typed);
  if (!seen.sight) return seen;
  // The driver died before it wrote down what it was about to type: then the whole record is looked through.
  const agent = seen.there === 'agent' ? seen.agent : null;
  const sought = typed ?? (agent && { ...seen.sight.encode(line), agent, position: null });
  return sought && (await isReceived(seen.sight, place.runDir, which, sought)) ? 'received' : seen;
}
