// Codex's composer: the last marked line at the bottom, flush left, with nothing but its own indented lines, the status line and the
// hints below it.
import { inkAbove, isBlank } from '../screens/lines.ts';

export interface Composer {
  top: number;
  text: string;
  /** The line with the model and the folder, wrapped where the screen is narrow. */
  status: string;
  /** Below the status line; '' while a draft stands in the composer. */
  hints: string;
}

const FIRST = /^›(?: (.*))?$/;

/** The status line: a model, a folder and more, with dots between them. */
const STATUS = /^ {2}\S.* · \S/;
const HINTS = /^ {2}(?:\? for|←|esc |tab |ctrl|⏎|\d+% context|.*\? for shortcuts)/;

export function composerIn(lines: readonly string[]): Composer | null {
  const top = lines.findLastIndex((line) => FIRST.test(line));
  if (top < 0 || !isBlank(lines[top - 1])) return null;
  const rest = lines.slice(top + 1);
  if (!rest.every((line) => line === '' || line.startsWith('  '))) return null;
  const below = footerOf(rest);
  if (!below) return null;
  const text = [FIRST.exec(lines[top]!)?.[1] ?? '', ...rest.slice(0, below.at).map((line) => line.slice(2))];
  return { top, text: text.join('\n').trim(), status: below.status, hints: below.hints };
}

/** The last paragraph, if it is the composer's footer. */
function footerOf(rest: readonly string[]): { at: number; status: string; hints: string } | null {
  const last = inkAbove(rest, rest.length);
  if (last < 0) return null;
  const at = inkAbove(rest, rest.slice(0, last).findLastIndex(isBlank) + 1) + 1;
  const paragraph = rest.slice(at, last + 1).filter((line) => !isBlank(line));
  const hint = paragraph.findIndex((line) => HINTS.test(line));
  const status = paragraph.slice(0, hint < 0 ? undefined : hint);
  const isFooter = hint >= 0 || (status.length > 0 && STATUS.test(status[0]!));
  if (!isFooter || paragraph.length > 4) return null;
  return { at, status: status.join(' '), hints: hint < 0 ? '' : paragraph.slice(hint).join(' ') };
}
