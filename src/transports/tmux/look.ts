// One look, in the words of every transport.
import type { Look, Place } from '../transport.ts';
import type { Parts } from './parts.ts';
import { type Seen, see } from './see.ts';
import { holdsText, isReceived, readTyped, type Typed } from './typed.ts';

export async function look(parts: Parts, place: Place): Promise<Look> {
  const prompt = readTyped(place.runDir, 'prompt');
  const reminder = readTyped(place.runDir, 'reminder');
  const seen = await see(parts, place, prompt);
  const nonce =
    prompt !== null && seen.sight !== null && (await isReceived(seen.sight, place.runDir, 'prompt', prompt));
  const rest = { nonce: nonce === true, clean: isClean(seen, nonce === true, prompt, reminder) };
  switch (seen.there) {
    case 'nothing':
      return { alive: false, hold: null, turn: 'hidden', detail: seen.why, ...rest };
    case 'unknown':
      return { alive: true, hold: 'busy', turn: 'hidden', detail: seen.why, ...rest };
    case 'agent':
      return { alive: true, hold: seen.hold, turn: seen.turn, detail: seen.hold && seen.why, ...rest };
  }
}

/** A session that we never typed into holds nothing of ours, whatever goes on in it; nor does one that is over. */
function isClean(seen: Seen, nonce: boolean, ...texts: (Typed | null)[]): boolean {
  const typed = texts.filter((text) => text !== null);
  if (typed.length === 0 || seen.there === 'nothing') return true;
  if (seen.there === 'unknown' || seen.turn !== 'settled') return false;
  // A composer that is folded holds a long text, and ours are short: but only a receipt says that ours has left it.
  if (seen.composer === null) return nonce;
  return !typed.some(({ text }) => holdsText(seen.composer, text));
}
