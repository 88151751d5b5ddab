// Waits until a run looks different from the last look. File events make it fast, a poll makes it sure: not every file system
// tells, and a process that is killed with its launcher writes nothing.
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../transport.ts';
import { bytesOf } from './activity.ts';
import { quietIn } from './look.ts';
import type { Parts } from './parts.ts';
import { logsOf, readRun } from './run.ts';

const POLL_MS = 1_000;
/** A chatty agent must not make its driver look a thousand times a second. Ends are told at once. */
const GROWTH_MS = 250;

export async function change(parts: Parts, place: Place, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { runDir } = place;
  // Compared with the look, not with the beginning of this wait: what happened in between has not been seen by anyone.
  const seen = parts.activity.last(runDir) ?? parts.activity.note(runDir, readRun(runDir));
  const woken = new AbortController();
  const wake = () => woken.abort();
  let throttled: NodeJS.Timeout | undefined;
  const grew = () => {
    throttled ??= setTimeout(wake, Math.max(0, GROWTH_MS - (performance.now() - seen.lookedAt)));
  };
  const check = () => {
    if (readRun(runDir).phase !== seen.phase) wake();
    else if (bytesOf(runDir) !== seen.bytes) grew();
  };
  const logs = logsOf(runDir);
  const watcher = tryWatch(runDir, (name) => (logs.includes(join(runDir, name ?? '')) ? grew() : check()));
  const poll = setInterval(check, POLL_MS);
  signal.addEventListener('abort', wake, { once: true });
  try {
    check();
    const quiet = seen.phase === 'running' ? quietIn(parts, place, seen) : 0;
    await parts.clock.sleep(quiet > 0 ? Math.min(ms, quiet) : ms, woken.signal);
  } finally {
    watcher?.close();
    clearInterval(poll);
    clearTimeout(throttled);
    signal.removeEventListener('abort', wake);
  }
}

/** Null where there is nothing to watch yet, or no watch left: then the poll alone decides. */
function tryWatch(runDir: string, tell: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(runDir, (_, name) => tell(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
