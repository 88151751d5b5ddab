// Small files that are there whole or not at all. Synchronous, since they are written in the same breath as a check, and by the
// launcher, which must not be interrupted between two of its steps.
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Environments and briefs may hold secrets: readable by this user only. */
const MODE = 0o600;

/** Replaces the file in one step: a reader finds the old content or the new one. Throws the system's error. */
export function writeWhole(path: string, content: string): void {
  const temporary = writeTemporary(path, content, false);
  try {
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Creates the file with its content, or does nothing: false if it exists. Like O_EXCL, but nobody ever sees it empty: whoever
 * finds the mark also learns who made it, even if that process died at once. Synced, since a mark that a power cut forgets would
 * let the act it stands for happen twice. Throws the system's error.
 */
export function createOnce(path: string, content: string): boolean {
  const temporary = writeTemporary(path, content, true);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(path));
  return true;
}

/** Null: not there, or not what was written whole (only a power cut leaves such a file). */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

function writeTemporary(path: string, content: string, synced: boolean): string {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = openSync(temporary, 'wx', MODE);
  try {
    writeSync(file, content);
    if (synced) fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return temporary;
}

/** Some file systems cannot sync a directory; then there is nothing to do. */
function syncDirectory(path: string): void {
  try {
    const directory = openSync(path, 'r');
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  } catch {}
}
