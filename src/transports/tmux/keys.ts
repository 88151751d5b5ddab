// Everything that reaches a pane. Each act names what must still be so (the mark, the pane's process, not in copy-mode, something
// on the screen), and tmux checks it in the same action.
import { randomBytes } from 'node:crypto';
import type { Fence } from '../transport.ts';
import type { Tmux } from './client.ts';
import { allOf, holdsMark, when } from './mark.ts';
import type { PaneIdentity } from './pane.ts';

export interface Aim {
  pane: PaneIdentity;
  fence: Fence;
  /** Must stand on the screen at that very moment; a word of letters, digits, `/`, `.`, `_`, `-`. */
  shows?: string | null;
}

export interface Key {
  /** In tmux's names. */
  key: string;
  times?: number;
}

const KEY = /^[A-Za-z0-9-]+$/;

/** Bracketed, from a buffer of its own, so that two who paste at once cannot get each other's text. False: nothing was pasted. */
export async function paste(tmux: Tmux, flags: readonly string[], aim: Aim, text: string): Promise<boolean> {
  const buffer = `stepward-${randomBytes(8).toString('hex')}`;
  await tmux.run(['load-buffer', '-b', buffer, '-'], plain(text));
  const command = `paste-buffer ${flags.join(' ')} -d -b ${buffer} -t '${aim.pane.id}'`;
  try {
    return await when(tmux, aim.pane.id, conditionOf(aim), command, `delete-buffer -b ${buffer}`);
  } catch (error) {
    // Not known whether it was pasted; the text must not stay where a person may paste it by accident.
    await tmux.run(['delete-buffer', '-b', buffer]).catch(() => {});
    throw error;
  }
}

/** False: no key was sent. */
export function press(tmux: Tmux, aim: Aim, keys: readonly Key[]): Promise<boolean> {
  const wrong = keys.find(({ key }) => !KEY.test(key));
  if (wrong) throw new TypeError(`"${wrong.key}" is not the name of a key`);
  const commands = keys.map(({ key, times = 1 }) => `send-keys -t '${aim.pane.id}' -N ${times} ${key}`);
  return when(tmux, aim.pane.id, conditionOf(aim), commands.join(' ; '));
}

export function conditionOf({ pane, fence, shows }: Aim): string {
  const isThere = allOf(
    holdsMark(fence),
    `#{==:#{pane_pid},${pane.pid}}`,
    '#{==:#{pane_dead},0}',
    '#{==:#{pane_in_mode},0}',
  );
  return shows ? allOf(isThere, `#{!=:#{C:${shows}},0}`) : isThere;
}

/**
 * Without control characters: an ESC [201~ inside a text would end the paste, and the rest of it would be keys. Profiles encode
 * as well; this is the last door. Line feeds and tabs stay.
 */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
