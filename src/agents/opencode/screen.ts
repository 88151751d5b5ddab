// What a screen of OpenCode shows.
import type { Reading, Screen } from '../../transports/sight.ts';
import { readExited } from '../screens/exited.ts';
import { linesOf, reading, titleSpins } from '../screens/lines.ts';
import { type Composer, composerIn } from './composer.ts';

/** The way to stop a turn, or the blocks that move while it runs. */
const RUNS = /\besc (?:again to )?interrupt\b|[■⬝]{3,}/i;
const RETRY = /\[retrying\b[^\]]*(?:\]|$)/i;
/** `Build · model`, in the colours of the agent. */
const AGENT = /^\S+(?: \S+)? · \S/;
/** Below each answer: the agent and the model, at least. */
const ANSWER = /^\s*▣\s+\S/;
const PLACEHOLDER = /^Ask anything(?:…|\.\.\.)/;
/** A window over the screen: its way out at the right end of its title, its search, its own keys. Each far from where anything is said. */
const WINDOW = [
  /^[\s┃]{2,}[^\s┃][^┃]*?\s{3,}esc(?:\/enter)?(?:\s{3,}|$)/,
  /\s{6,}Search$/,
  /^ {2}[ ┃] {9,}(?!.*ctrl\+p commands)\S.* ctrl\+\S(?:\s|$)/,
];
/** What stands below the composer at rest: the folder, or a key. */
const REST = /^\s+[~/]|\bctrl\+\w/;
/** Hints, and on the first screen the folder and the version. */
const MOST_FOOTER = 3;
const LOGO = /█▀▀█ █▀▀█ █▀▀█/;
const FAREWELL = /^ {2}Continue +opencode -s /;

export function read(screen: Screen): Reading {
  const lines = linesOf(screen);
  const exited = readExited(lines, FAREWELL);
  if (exited) return exited;
  const composer = composerIn(lines);
  const asked = readPanel(lines, composer);
  if (asked) return asked;
  const window = lines.slice(0, composer?.base).find((line) => WINDOW.some((sign) => sign.test(line)));
  if (window) return reading('dialog', `a window is open: ${window.replaceAll('┃', '').trim()}`);
  if (composer) return readComposer(composer, lines, screen.title);
  if (lines.length === 0) return reading('unknown', 'the screen is empty');
  if (lines.some((line) => LOGO.test(line))) return reading('starting', 'the name is there, and no composer yet');
  return reading('unknown', 'neither a composer nor a dialog can be seen');
}

function readComposer(composer: Composer, lines: readonly string[], title: string): Reading {
  const { text, agent, footer, menu } = composer;
  const shown = PLACEHOLDER.test(text) ? '' : /\[Pasted ~\d+ lines\]/.test(text) ? null : text;
  const retry = footer.find((line) => RETRY.test(line));
  if (retry) return reading('retrying', `below the composer: ${retry.trim()}`, shown);
  const busy = footer.find((line) => RUNS.test(line));
  if (busy) return reading('working', `below the composer: ${busy.trim()}`, shown);
  if (titleSpins(title)) return reading('unknown', 'the title spins, and the screen does not say why', shown);
  if (menu) return reading('draft', 'a menu is open above the composer', shown);
  if (shown !== '') return reading('draft', 'text stands in the composer', shown);
  if (!AGENT.test(agent)) return reading('unknown', `the composer names no agent: ${agent}`, shown);
  if (footer.length === 0) return reading('unknown', 'nothing stands below the composer: half a screen', shown);
  if (!footer.some((line) => REST.test(line)))
    return reading('unknown', `nothing known stands below the composer`, shown);
  if (footer.length > MOST_FOOTER) return reading('unknown', 'something else stands below the composer', shown);
  if (!composer.whole) return reading('unknown', 'the composer is half drawn', shown);
  const above = lines.slice(0, composer.top);
  if (above.every((line) => line.trim() === '')) return reading('unknown', 'nothing stands above the composer', shown);
  const covered = above.find((line) => ANSWER.test(line) && !line.includes(' · '));
  if (covered) return reading('unknown', `something covers what was said: ${covered.trim()}`, shown);
  return reading('idle', 'an empty composer, and nothing below it says that a turn runs', shown);
}

/** A question takes the composer's place: a box without a base, down to the end of the screen. */
function readPanel(lines: readonly string[], composer: Composer | null): Reading | null {
  const last = lines.findLastIndex((line) => /^ *┃/.test(line));
  if (last < 0 || (composer && composer.base > last) || last < lines.length - 3) return null;
  const left = lines[last]!.indexOf('┃');
  let top = last;
  while (top > 0 && lines[top - 1]!.charAt(left) === '┃') top--;
  const rows = lines.slice(top, last + 1).map((line) => line.slice(left + 1).trim());
  const settles =
    rows.findLast((row) => /\b(?:enter|esc)\b/i.test(row)) ?? rows.findLast((row) => /\S {3,}\S/.test(row));
  if (settles === undefined) return null;
  const heading = rows.find((row) => row !== '') ?? '';
  return heading.startsWith('△')
    ? reading('blocked', `a permission is asked for: ${heading} / ${settles}`)
    : reading('dialog', `a question takes the composer’s place: ${heading}`);
}
