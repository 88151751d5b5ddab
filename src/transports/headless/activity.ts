// When a run's output last grew, by the clock the rules go by. Growing output is the only sign of work that any command gives.
import { statSync } from 'node:fs';
import type { Clock } from '../../kernel/ports.ts';
import { fileOf, logsOf, type Run } from './run.ts';

export interface Note {
  phase: Run['phase'];
  bytes: number;
  /** By the clock. */
  grewAt: number;
  /** Real, ms; performance.now(). */
  lookedAt: number;
}

export interface Activity {
  /** Writes down what a look found, and gives it. */
  note(runDir: string, run: Run): Note;
  /** What the last look of this driver found; nothing for a run that is over. */
  last(runDir: string): Note | undefined;
}

const OVER: readonly Run['phase'][] = ['void', 'ended', 'lost'];

export function createActivity(clock: Clock): Activity {
  const notes = new Map<string, Note>();
  return {
    note(runDir, { phase }) {
      const before = notes.get(runDir);
      const bytes = bytesOf(runDir);
      const grewAt = before ? (bytes === before.bytes ? before.grewAt : clock.now()) : clock.now() - silenceOf(runDir);
      const note = { phase, bytes, grewAt, lookedAt: performance.now() };
      // A host that lives for months must not keep every run it ever saw.
      if (OVER.includes(phase)) notes.delete(runDir);
      else notes.set(runDir, note);
      return note;
    },
    last: (runDir) => notes.get(runDir),
  };
}

/** The start counts as output: an agent that thinks before its first word is not silent yet. */
const watched = (runDir: string): string[] => [...logsOf(runDir), fileOf(runDir, 'child.json')];

export const bytesOf = (runDir: string): number =>
  watched(runDir).reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);

/** What a driver that comes later can tell of the time before: real ms since anything was written. */
function silenceOf(runDir: string): number {
  const times = watched(runDir).map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(0, Date.now() - Math.max(...times));
}
