// The agent is gone: tmux says that the pane is dead, or a shell asks for its next command.
import type { Reading } from '../../transports/sight.ts';
import { reading } from './lines.ts';

const DEAD_PANE = /^Pane is dead \((?:status|signal) \w+/;

/** Only what no agent draws in its last line: flush left, and nothing behind it. Prompts of other forms stay unknown, since a cut
 *  screen of an agent can end in almost anything. */
const SHELL_PROMPT = /^(?! )[\w.@~:/\\()[\]+ -]{0,120}[$#%]$/;

/** Null: no sign of it. `lines` end with ink. `farewell` is what the agent prints when it ends, flush left. */
export function readExited(lines: readonly string[], farewell: RegExp): Reading | null {
  const last = lines.at(-1) ?? '';
  if (DEAD_PANE.test(last)) return reading('exited', `the pane is dead: ${last}`);
  if (SHELL_PROMPT.test(last)) return reading('exited', `a shell's prompt is the last line: ${last}`);
  const ending = lines.filter((line) => line !== '').slice(-5);
  const said = ending.find((line) => farewell.test(line));
  return said === undefined ? null : reading('exited', `the agent’s last words: ${said}`);
}
