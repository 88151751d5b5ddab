// What a screen of Codex shows.
import type { Reading, Screen } from '../../transports/sight.ts';
import { choicesIn } from '../screens/choices.ts';
import { readExited } from '../screens/exited.ts';
import { inkAbove, linesOf, reading, titleSpins } from '../screens/lines.ts';
import { type Composer, composerIn } from './composer.ts';

/** The line of a running turn, flush left. An answer may say the same words behind the same bullet; but then a turn's end follows. */
const STATUS = /^[•◦●○∙⠀-⣿] .*\(\d+[smh][^)]*\besc\b/;
const RETRY = /^\S .*\b\d+\s*\/\s*\d+ \(/;
const INTERRUPT = /\besc to interrupt\b/i;
/** How a turn ends: the time it took, or what went wrong. While an answer streams, nothing else on the screen tells a turn from its end. */
const ENDED = /^(?: {2}Worked for \S|─+ Worked for |■ )/;
const BANNER = /^\s*(?:│ )?>_ OpenAI Codex \(v/;
const ACTION = /\bAction Required\b/;
const QUESTION = /^\s*Would you like to\b/;
const HINT = /^ {2}(?:press )?(?:enter|esc|space|tab)\b/i;
const PLACEHOLDER = 'Ask Codex to do anything';
const SHORTCUTS = /\? for shortcuts/;
const FAREWELL = /^To continue this session, run\b/;

export function read(screen: Screen): Reading {
  const lines = linesOf(screen);
  const exited = readExited(lines, FAREWELL);
  if (exited) return exited;
  const composer = composerIn(lines);
  const dialog = readDialog(lines, composer, screen.title);
  if (dialog) return dialog;
  if (composer) return readComposer(lines, composer, screen.title);
  if (lines.length === 0) return reading('unknown', 'the screen is empty');
  if (lines.some((line) => BANNER.test(line))) return reading('starting', 'the banner is there, and no composer yet');
  return reading('unknown', 'neither a composer nor a dialog can be seen');
}

function readComposer(lines: readonly string[], composer: Composer, title: string): Reading {
  const shown = isEmpty(composer) ? '' : /\[Pasted Content \d+ chars\]/.test(composer.text) ? null : composer.text;
  const above = lines.slice(0, composer.top);
  const running = runningLine(above);
  if (running) {
    const state = RETRY.test(running) ? 'retrying' : 'working';
    return reading(state, `above the composer: ${running}`, shown);
  }
  if (/\btab to queue\b/i.test(composer.hints))
    return reading('working', `a turn runs: ${composer.hints.trim()}`, shown);
  if (titleSpins(title)) return reading('working', 'the title spins, and an answer is on its way', shown);
  if (ACTION.test(title))
    return reading('unknown', 'the title asks for an action that the screen does not show', shown);
  // What a killed agent leaves is written over by the shell.
  if (shown !== '' && SHORTCUTS.test(composer.hints)) {
    return reading('unknown', 'the composer holds a text, and the hints below it say that it is empty', shown);
  }
  if (shown !== '') return reading('draft', 'text stands in the composer', shown);
  // For half a second the composer is there before it is known whether the folder is trusted; typed text would answer that question.
  if (composer.status === '') return reading('starting', 'no status line below the composer yet', shown);
  const end = endOf(above);
  if (end === null) return reading('unknown', 'an empty composer, and no end of a turn above it', shown);
  return reading('idle', `an empty composer, and above it ${end}`, shown);
}

/** The status line, where nothing that ends a turn follows it. */
function runningLine(above: readonly string[]): string | null {
  const at = above.findLastIndex(
    (line, i) => STATUS.test(line) || (/^[•◦] /.test(line) && INTERRUPT.test(above[i + 1] ?? '')),
  );
  if (at < 0 || above.slice(at + 1).some((line) => ENDED.test(line))) return null;
  return above
    .slice(at, at + 2)
    .join(' ')
    .trim();
}

function endOf(above: readonly string[]): string | null {
  const last = inkAbove(above, above.length);
  if (last < 0) return null;
  const begin = above.slice(0, last + 1).findLastIndex((line) => line.trim() === '') + 1;
  const paragraph = above.slice(begin, last + 1);
  const ended = paragraph.find((line) => ENDED.test(line));
  if (ended) return `the end of a turn: ${ended.trim()}`;
  const banner = above.findLastIndex((line) => BANNER.test(line));
  // Nothing has been said since the start: tips and notices are indented.
  if (banner >= 0 && above.slice(banner + 1).every((line) => /^ |^$|^[│╰╭]/.test(line))) return 'only the banner';
  return null;
}

/** A placeholder cannot be told from the same words typed; but while a draft stands there, there are no hints. */
const isEmpty = ({ text, hints }: Composer): boolean => text === '' || (hints !== '' && text === PLACEHOLDER);

function readDialog(lines: readonly string[], composer: Composer | null, title: string): Reading | null {
  const choices = choicesIn(lines);
  // A list that stands above the composer is something that was said.
  if (!choices || (composer && composer.top > choices.last)) return null;
  const below = lines.slice(choices.last + 1);
  const isOwn = below.every((line) => line === '' || /^[\s↑↓]/.test(line));
  if (!isOwn || !below.some((line) => HINT.test(line))) return null;
  const chosen = choices.labels.join(' / ');
  const asked = lines.slice(0, choices.first).some((line) => QUESTION.test(line));
  return ACTION.test(title) || asked
    ? reading('blocked', `a permission is asked for: ${chosen}`)
    : reading('dialog', `a list to choose from: ${chosen}`);
}
