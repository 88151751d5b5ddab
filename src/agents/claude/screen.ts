// What a screen of Claude Code shows.
import type { Reading, Screen } from '../../transports/sight.ts';
import { choicesIn } from '../screens/choices.ts';
import { readExited } from '../screens/exited.ts';
import { linesOf, reading, titleSpins } from '../screens/lines.ts';
import { type Composer, composerIn } from './composer.ts';

/** Flush left stand prompts (❯), answers and tools (a bullet), and, while a turn runs, one sign of a spinner with a text that goes on (…);
 *  on a narrow screen the sign alone. The verbs change with every version; these forms do not. */
const ALIVE = /^[^\s\w❯›>●⏺○◯•│╭╰─┃"'([{<`|#](?:$|\s\S.*(?:…|\.\.\.))/;
const RETRY = /^[^\s❯›>●⏺○◯•│╭╰].*\battempt \d+\s*\/\s*\d+/i;
/** How long a turn took: printed at its end, so that what stands above it is over. */
const ENDED = /^[^\s\w❯›>●⏺│╭╰─]\s\S+ for (?:\d+[dhms] ?)+(?:· done\b.*)?$/;
const INTERRUPT = /\besc to interrupt\b/i;
const BANNER = /Claude Code v\d/;
const QUESTION = /^\s*(?:Do you want|Would you like) to\b/;
const AMEND = /\btab to amend\b/i;
const SETTLES = /\b(?:enter|esc|tab|space)\b[^.]*\bto\b/i;
/** Stands there only as long as the composer is empty. */
const SHORTCUTS = /^\s*\? for shortcuts/;
const EXAMPLE = /^Try "[^\n]*"?$/;
const FAREWELL = /^Resume this session with:/;

export function read(screen: Screen): Reading {
  const lines = linesOf(screen);
  const exited = readExited(lines, FAREWELL);
  if (exited) return exited;
  const composer = composerIn(lines);
  if (composer) return readComposer(lines, composer, screen.title);
  return readDialog(lines) ?? withoutComposer(lines);
}

function readComposer(lines: readonly string[], composer: Composer, title: string): Reading {
  const { text, mark, footer } = composer;
  const begin = lines.findLastIndex((line) => BANNER.test(line)) + 1;
  const ended = lines.slice(0, composer.top).findLastIndex((line) => ENDED.test(line)) + 1;
  const above = lines.slice(Math.max(begin, ended), composer.top);
  const shown = isPlaceholder(composer) ? '' : isFolded(text) ? null : text;
  const retry = above.findLast((line) => RETRY.test(line));
  if (retry) return reading('retrying', `above the composer: ${retry}`, shown);
  const alive = above.findLast((line) => ALIVE.test(line));
  if (alive) return reading('working', `above the composer: ${alive}`, shown);
  const busy = footer.find((line) => INTERRUPT.test(line));
  if (busy) return reading('working', `below the composer: ${busy.trim()}`, shown);
  if (titleSpins(title)) return reading('unknown', 'the title spins, and the screen does not say why', shown);
  if (footer.some((line) => /^\s*❯ /.test(line))) return reading('dialog', 'a list to choose from below the composer');
  if (mark !== '❯' && mark !== '>') return reading('draft', `the composer is in another mode: ${mark}`, shown);
  if (shown !== '') return reading('draft', 'text stands in the composer', shown);
  if (footer.length > MOST_FOOTER || footer.some((line) => !line.startsWith(' '))) {
    return reading('dialog', 'a menu is open below the composer', shown);
  }
  if (footer.length === 0) return reading('unknown', 'nothing stands below the composer: half a screen', shown);
  return reading('idle', 'an empty composer, and nothing above or below it says that a turn runs', shown);
}

/** Hints of a narrow screen are wrapped. */
const MOST_FOOTER = 4;

const isPlaceholder = ({ text, footer, mark }: Composer): boolean =>
  mark === '❯' && EXAMPLE.test(text) && footer.some((line) => SHORTCUTS.test(line));

const isFolded = (text: string): boolean => /\[Pasted text #\d+/.test(text);

function readDialog(lines: readonly string[]): Reading | null {
  const choices = choicesIn(lines);
  if (!choices) return readTall(lines);
  // A dialog stands below a rule or, where it is taller than the screen, fills it; nothing that is said stands below its choices.
  const below = lines.slice(choices.last + 1);
  if (below.some((line) => /^[^\s]/.test(line))) return null;
  const hints = below.filter((line) => SETTLES.test(line)).join(' ');
  const top = lines.slice(0, choices.first).findLastIndex((line) => /^[─▔╭]{3,}/.test(line));
  if (hints === '' && top < 0) return null;
  const asked = lines.slice(top + 1, choices.first).find((line) => QUESTION.test(line));
  const chosen = choices.labels.join(' / ');
  // "Do you want to use this API key?" is a question at the start: Enter confirms there, and nothing can be amended.
  const confirms = /^\s*enter\b/i.test(hints);
  if (AMEND.test(hints) || (asked && !confirms)) return reading('blocked', `a permission is asked for: ${chosen}`);
  return reading('dialog', `a list to choose from: ${chosen}`);
}

/** The marked choice has left a screen that is too small; the hints at the bottom have not. */
function readTall(lines: readonly string[]): Reading | null {
  const begin = lines.lastIndexOf('') + 1;
  const hints = lines.slice(begin).join(' ');
  if (!/^ +\S/.test(hints) || !/\benter\b.*\besc\b|\besc\b.*\benter\b/i.test(hints)) return null;
  return reading('dialog', `hints of a dialog at the bottom: ${hints.trim()}`);
}

function withoutComposer(lines: readonly string[]): Reading {
  if (lines.length === 0) return reading('unknown', 'the screen is empty');
  if (lines.some((line) => BANNER.test(line))) {
    return reading('starting', 'the banner is there, and no composer yet');
  }
  return reading('unknown', 'neither a composer nor a dialog can be seen');
}
