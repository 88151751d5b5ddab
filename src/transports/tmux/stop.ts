// Takes back what an attempt did to a pane. Every key is fenced and goes by a fresh look, like a prompt.
import type { Fence, Place } from '../transport.ts';
import { type Key, press } from './keys.ts';
import { endPane, purposeOf } from './open.ts';
import { viewPane } from './pane.ts';
import type { Parts } from './parts.ts';
import { pause } from './real-time.ts';
import { type Present, type Seen, see } from './see.ts';
import { isReceived, isSameText, readTyped } from './typed.ts';

/** Two keys that arrive as one read are another key to many programs. */
const BETWEEN_KEYS_MS = 60;

/** Only a turn that is seen working and is ours; with a dialog open the key would answer it. */
export async function interrupt(parts: Parts, place: Place, fence: Fence): Promise<void> {
  const typed = readTyped(place.runDir, 'prompt');
  if (!typed) return;
  const look = () => see(parts, place, typed);
  const seen = await look();
  if (!seen.sight || !(await isReceived(seen.sight, place.runDir, 'prompt', typed))) return;
  for (const key of seen.sight.interruptKeys) {
    const isSent = await pressFresh(
      parts,
      fence,
      look,
      (now) => now.turn === 'working' && !now.view.inMode,
      () => [{ key }],
    );
    if (!isSent) return;
    await pause(BETWEEN_KEYS_MS);
  }
}

/** Deletes letter by letter: it is the one way that every composer knows, and it cannot take more than was ours. */
export async function clearOwnText(parts: Parts, place: Place, fence: Fence): Promise<void> {
  for (const which of ['prompt', 'reminder'] as const) {
    const typed = readTyped(place.runDir, which);
    if (!typed) continue;
    const holdsExactlyOurs = (now: Present) =>
      now.hold === 'draft' && !now.view.inMode && isSameText(now.composer, typed.text);
    const look = () => see(parts, place, typed);
    const keys = [{ key: 'End' }, { key: 'BSpace', times: [...typed.text].length }];
    await pressFresh(parts, fence, look, holdsExactlyOurs, () => keys);
  }
}

/** Closes the pane if it was opened for this very attempt; any other one is somebody's. */
export async function reap(parts: Parts, place: Place, fence: Fence): Promise<void> {
  const view = await viewPane(parts.tmux, place.target);
  if ('gone' in view || view.openedFor !== purposeOf(place)) return;
  await endPane(parts.tmux, view, fence, parts.times.closeMs);
}

const TRIES = 4;

/** False: not sent. */
async function pressFresh(
  parts: Parts,
  fence: Fence,
  look: () => Promise<Seen>,
  allows: (seen: Present) => boolean,
  keys: () => readonly Key[],
): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seen = await look();
    if (seen.there !== 'agent' || !allows(seen)) return false;
    if (performance.now() - seen.view.at > parts.times.freshMs) continue;
    return press(parts.tmux, { pane: seen.pane, fence }, keys());
  }
  return false;
}
