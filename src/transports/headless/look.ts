// One look at a run.
import type { Look, Place } from '../transport.ts';
import type { Note } from './activity.ts';
import { membersOf } from './members.ts';
import type { Parts } from './parts.ts';
import { readRun } from './run.ts';

const NOTHING: Look = { alive: true, hold: null, turn: 'hidden', nonce: false, clean: true, detail: null };

export function look(parts: Parts, place: Place): Look {
  const run = readRun(place.runDir);
  const note = parts.activity.note(place.runDir, run);
  switch (run.phase) {
    case 'fresh':
      return NOTHING;
    case 'void':
      return { ...NOTHING, alive: false, detail: 'nothing was started and nothing will be' };
    case 'starting':
      return { ...NOTHING, hold: 'busy', clean: false };
    case 'running':
      // The turn is ours by construction: nobody else can speak to this process.
      return {
        ...NOTHING,
        hold: 'busy',
        nonce: true,
        clean: false,
        turn: quietIn(parts, place, note) > 0 ? 'working' : 'hidden',
      };
    case 'lost':
      return { ...NOTHING, alive: false, detail: 'the launcher died before it told whether the agent started' };
    case 'ended': {
      const { exit } = run;
      if (exit && 'error' in exit)
        return { ...NOTHING, alive: false, detail: `the agent did not start: ${exit.error}` };
      const { group, strays } = membersOf(place.runDir, run);
      const clean = group.length + strays.length === 0;
      return { ...NOTHING, alive: false, nonce: true, clean, detail: ending(exit) };
    }
  }
}

/** ms of the clock until a running turn without further output counts as hidden; ≤ 0: it does. */
export function quietIn(parts: Parts, place: Place, note: Note): number {
  return note.grewAt + (place.quietMs ?? parts.quietMs) - parts.clock.now();
}

function ending(exit: { code: number | null; signal: string | null } | null): string {
  if (!exit) return 'the process is gone without an exit status';
  return exit.signal === null ? `exited with code ${exit.code}` : `killed by ${exit.signal}`;
}
