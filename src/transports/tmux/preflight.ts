// Says in one sentence why a pane cannot be used, and what to do. Changes nothing in it.
import { requireDirectory } from '../command.ts';
import { type Place, PlaceError } from '../transport.ts';
import { requireNewEnough, requireVersion } from './capabilities.ts';
import { TmuxError } from './client.ts';
import { parseMark } from './mark.ts';
import { isPaneId, viewPane } from './pane.ts';
import type { Parts } from './parts.ts';
import { promptLine, reminderLine } from './prompt.ts';
import { see } from './see.ts';

export async function preflight(parts: Parts, place: Place): Promise<void> {
  const { target, kind = '', cwd } = place;
  if (!isPaneId(target)) {
    throw new PlaceError(`"${target}" is not a pane; name one by its id, like tmux:%3 (tmux list-panes -a shows them)`);
  }
  const sight = parts.sightOf(kind);
  if (!sight) throw new PlaceError(`nothing is known of the screens of "${kind}"; name an agent that is (--agent)`);
  requireDirectory(cwd);
  for (const line of [promptLine(place), reminderLine(place)]) encodable(() => sight.encode(line));
  await requireVersion(parts.tmux);
  try {
    const view = await viewPane(parts.tmux, target);
    if (!('gone' in view)) requireNewEnough(view.version);
    const seen = await see(parts, place, null);
    if (seen.there === 'nothing') throw new PlaceError(`${seen.why}; start ${kind} there, or name another pane`);
    if (seen.there === 'unknown') throw new PlaceError(`${seen.why}; put it right, or name another pane`);
    parseMark(seen.view.mark);
    await parts.pasteFlags(seen.view.version);
  } catch (error) {
    throw error instanceof TmuxError
      ? new PlaceError(`${error.message}; see that tmux answers, then try again`)
      : error;
  }
}

function encodable(encode: () => unknown): void {
  try {
    encode();
  } catch (error) {
    if (error instanceof TypeError) throw new PlaceError(`the prompt cannot be typed: ${error.message}`);
    throw error;
  }
}
