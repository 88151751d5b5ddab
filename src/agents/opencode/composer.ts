// OpenCode's composer: a box with a bar at its left and a base of half blocks, the agent and the model in its last line. At the bottom of
// a session, in the middle of the first screen; a wide screen has a sidebar beside it.
import { isBlank } from '../screens/lines.ts';

export interface Composer {
  top: number;
  base: number;
  text: string;
  /** Agent and model; another line means another mode. */
  agent: string;
  /** Below the base, as far as the box is wide and further. */
  footer: readonly string[];
  /** Rows of a menu that is open above the text. */
  menu: boolean;
  /** Nothing is missing: the text has an empty row above and below it. */
  whole: boolean;
}

const BASE = /^( *)╹(▀{8,})/;

export function composerIn(lines: readonly string[]): Composer | null {
  const base = lines.findLastIndex((line) => BASE.test(line));
  if (base < 0) return null;
  const [, indent = '', blocks = ''] = BASE.exec(lines[base]!)!;
  const left = indent.length;
  const isRow = (i: number) => i >= 0 && lines[i]!.charAt(left) === '┃' && isBlank(lines[i]!.slice(0, left));
  let top = base;
  while (isRow(top - 1)) top--;
  const inner = lines.slice(top, base).map((line) => line.slice(left + 1, left + 1 + blocks.length).trimEnd());
  const agent = inner.pop()?.trim() ?? '';
  const rows = inner.filter((line) => !line.endsWith('┃'));
  const text = rows
    .map((line) => line.slice(2))
    .join('\n')
    .trim();
  const footer = lines.slice(base + 1).filter((line) => !isBlank(line));
  const whole = rows.length >= 3 && rows.at(0) === '' && rows.at(-1) === '';
  return { top, base, text, agent, footer, menu: rows.length < inner.length, whole };
}
