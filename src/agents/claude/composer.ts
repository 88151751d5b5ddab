// Claude Code's composer: between two rules of one width, at the bottom of the screen, its first line marked. All that the agent or a
// person says stands indented above it, so that no quoted screen can look like one.
import { isBlank } from '../screens/lines.ts';

export interface Composer {
  /** The line of the upper rule. */
  top: number;
  /** What stands in it, without the mark and the indent; '' where nothing does. */
  text: string;
  /** `❯` for prompts; `!` and others for other modes. */
  mark: string;
  /** Below the lower rule, without empty lines. */
  footer: readonly string[];
}

/** May hold a label: the name of the session, of an agent. */
const UPPER = /^─{3,}.*─$/;
const LOWER = /^─{12,}$/;
const FIRST = /^([❯›>!#&])(?: (.*))?$/;
const REST = /^ {2}|^$/;

export function composerIn(lines: readonly string[]): Composer | null {
  const bottom = lines.findLastIndex((line) => LOWER.test(line));
  if (bottom < 0) return null;
  const width = lines[bottom]!.length;
  const top = lines.slice(0, bottom).findLastIndex((line) => UPPER.test(line));
  if (top < 0 || lines[top]!.length !== width) return null;
  const [first = '', ...rest] = lines.slice(top + 1, bottom);
  const marked = FIRST.exec(first);
  if (!marked || !rest.every((line) => REST.test(line))) return null;
  const text = [marked[2] ?? '', ...rest.map((line) => line.slice(2))].join('\n').trim();
  const footer = lines.slice(bottom + 1).filter((line) => !isBlank(line));
  return { top, text, mark: marked[1]!, footer };
}
