// Where a store lies: made for its user alone.
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Mode 0700. Not mkdir's own `recursive`: below /proc and its like Node 20 never comes back from it. Throws the system's error. */
export function makeDirectory(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })) return;
  if (dirname(dir) !== dir) makeDirectory(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Mode 0600; does nothing if it is there. SQLite would make it readable for everyone, and gives -wal and -shm the mode of the file.
 * Only `wx`: closing a descriptor of a file that is open elsewhere in this process would drop the locks that SQLite holds on it.
 * Throws the system's error.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Which file lies at the path now; null: none. Another one after it was removed and made anew. Throws the system's error. */
export const identityOf = (file: string): string | null => {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.dev}/${stats.ino}` : null;
};
