// Waits for the moment at which one may type, and says what keeps us from it.
import type { Hold } from '../../../machines/job/vocabulary.ts';
import { pause } from './real-time.ts';
import { isFree, type Present, type Seen, see } from './see.ts';
import { holdsText, isReceived, isSameText, readTyped } from './typed.ts';
import type { Typing } from './typing.ts';

/** Free twice in a row, some time apart: once may be the moment between two turns. Null: aborted, or nobody is there any more. */
export async function holdUntilFree(typing: Typing): Promise<Present | null> {
  const { parts, place, hand } = typing;
  const tell = teller(typing);
  for (let freeSince: number | null = null; !hand.signal.aborted; ) {
    const seen = await see(parts, place, null);
    if (seen.there === 'nothing') return null;
    if (!isFree(seen)) {
      freeSince = null;
      await tell(seen);
      await pause(parts.times.pollMs, hand.signal);
      continue;
    }
    const { at } = seen.view;
    freeSince ??= at;
    if (at - freeSince >= parts.times.twiceMs) return seen;
    await pause(parts.times.twiceMs - (at - freeSince), hand.signal);
  }
  return null;
}

/**
 * After a paste: until our text alone stands in the composer (`ours`), the agent has it (`received`), it is not there although the composer
 * can be read (`left`), or the session is over or we are told to stop (`over`).
 */
export async function holdUntilOurs(typing: Typing): Promise<'ours' | 'received' | 'left' | 'over'> {
  const { parts, place, hand, which } = typing;
  const typed = readTyped(place.runDir, which);
  if (!typed) return 'left';
  const tell = teller(typing);
  for (let leftSince: number | null = null; !hand.signal.aborted; ) {
    const seen = await see(parts, place, typed);
    if (seen.sight && (await isReceived(seen.sight, place.runDir, which, typed))) return 'received';
    if (seen.there === 'nothing') return 'over';
    if (seen.there === 'agent' && !seen.view.inMode) {
      if (seen.hold === 'draft' && isSameText(seen.composer, typed.text)) return 'ours';
      const isReadable = seen.hold !== 'dialog' && seen.composer !== null;
      if (isReadable && !holdsText(seen.composer, typed.text)) {
        // An agent that is slow to draw has the text all the same.
        leftSince ??= seen.view.at;
        if (seen.view.at - leftSince >= parts.times.evidenceMs) return 'left';
        await pause(parts.times.pollMs / 5, hand.signal);
        continue;
      }
    }
    leftSince = null;
    await tell(seen);
    await pause(parts.times.pollMs, hand.signal);
  }
  return 'over';
}

function teller({ hand }: Typing): (seen: Seen) => Promise<void> {
  let told: Hold | null = null;
  return async (seen) => {
    const hold = (seen.there === 'agent' ? seen.hold : null) ?? 'busy';
    if (hold !== told) await hand.hold(hold);
    told = hold;
  };
}
