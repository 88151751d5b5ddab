// Wakes whoever waits for news of the registry, from any process. A hint only: a lost one is made good by the next poll.
import { type FSWatcher, watch } from 'node:fs';
import type { Connection } from './connection.ts';
import { REGISTRY_FILE } from './files.ts';
import { DATA_VERSION } from './plans.ts';

/** Behind fs.watch, which misses news on some systems and may find no free watch at all. */
const POLL_MS = 250;
/** The file is written before the commit can be seen (up to a sync of the disk earlier), so a look that finds nothing new looks
 *  again: after 1, 2, 4 … ms. */
const LOOKS_AGAIN_MS = Object.freeze([1, 2, 4, 8, 16, 32]);

export interface Changes {
  onChange(listener: () => void): () => void;
  stop(): void;
}

export function createChanges(connection: Connection, dir: string, pollMs: number = POLL_MS): Changes {
  const listeners = new Set<() => void>();
  let watcher: FSWatcher | undefined;
  let poll: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  let told: NodeJS.Immediate | undefined;
  let seen: number | undefined;

  /** Many commits in one turn of the event loop make one call. */
  function tell(): void {
    if (listeners.size === 0 || told) return;
    told = setImmediate(() => {
      told = undefined;
      for (const listener of [...listeners]) listener();
    });
    told.unref();
  }

  /** True if another connection has committed since the last look. */
  function look(): boolean {
    const version = dataVersion(connection);
    const isNew = version !== undefined && version !== seen;
    if (version !== undefined) seen = version;
    if (isNew) tell();
    return isNew;
  }

  function lookUntilNew(tries: readonly number[] = LOOKS_AGAIN_MS): void {
    clearTimeout(again);
    const [wait, ...rest] = tries;
    if (look() || wait === undefined) return;
    again = setTimeout(lookUntilNew, wait, rest);
    again.unref();
  }

  function start(): void {
    seen = dataVersion(connection);
    connection.onCommit = tell;
    poll = setInterval(look, pollMs);
    poll.unref();
    try {
      watcher = watch(dir, { persistent: false }, (_, name) => {
        if (name === null || name === `${REGISTRY_FILE}-wal`) lookUntilNew();
      });
      // The directory went away, or the system took the watch back: the poll goes on.
      watcher.on('error', () => watcher?.close());
    } catch {
      watcher = undefined;
    }
  }

  function stop(): void {
    listeners.clear();
    connection.onCommit = () => {};
    watcher?.close();
    watcher = undefined;
    clearInterval(poll);
    clearTimeout(again);
    clearImmediate(told);
    told = undefined;
  }

  return {
    onChange(listener) {
      // Of its own, so that a listener that is added twice can be removed once.
      const own = () => listener();
      if (listeners.size === 0) start();
      listeners.add(own);
      return () => {
        if (listeners.delete(own) && listeners.size === 0) stop();
      };
    },
    stop,
  };
}

/** Undefined while another process has the store locked for recovery: the next look tells. */
function dataVersion(connection: Connection): number | undefined {
  try {
    return connection.sql.get<{ data_version: number }>(DATA_VERSION)?.data_version;
  } catch {
    return undefined;
  }
}
