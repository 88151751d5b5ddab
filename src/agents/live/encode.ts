// What may be typed at an agent, and what it will have received (docs/design.md section 7). Each rule stands for a text that arrived
// changed, ran as a command, or did not arrive at all when it was typed at a real agent.
import type { Encoded } from '../../transports/sight.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: an ESC [201~ would end the paste, and what follows would be keys.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** What each agent does to a pasted text by itself. */
export interface Habits {
  /** A tab arrives as so many spaces; absent: as a tab. */
  tab?: number;
}

/** Throws TypeError with a sentence for what no encoding brings there unchanged. */
export function encodePrompt(text: string, { tab }: Habits = {}): Encoded {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('the text holds half a character, which no terminal carries');
  const plain = text.replace(/\r\n?/g, '\n').replace(CONTROL, '').normalize('NFC').trim();
  if (plain === '') throw new TypeError('the text is empty: nothing of it can be typed');
  // Enter behind it would make a new line, and the text would stay in the composer.
  if (plain.endsWith('\\')) throw new TypeError('the text ends in a backslash, which would swallow Enter');
  return { text: `${defused(plain)}${closed(plain)}`, expected: expectedOf(plain, tab) };
}

/** `/`, `!`, `#`, `@`, `?` and their like begin commands, a shell, menus: behind a space they are text. */
const defused = (text: string): string => (/^[\p{L}\p{N}]/u.test(text) ? text : ` ${text}`);

/** A menu that completes the last word would take Enter for itself; a space closes it. */
const closed = (text: string): string => (/(?:^|\s)[@/#$:]\S*$/.test(text) ? ' ' : '');

const expectedOf = (text: string, tab: number | undefined): string =>
  tab === undefined ? text : text.replaceAll('\t', ' '.repeat(tab));

/** Agents trim what they are given, or add a space of their own. */
export const sameText = (received: string, expected: string): boolean =>
  received.replace(/\r\n?/g, '\n').normalize('NFC').trim() === expected.normalize('NFC').trim();
