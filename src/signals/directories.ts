// Makes directories in an agent's working directory without being led out of it.
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AttemptError } from './errors.ts';
import { codeOf } from './files.ts';
import { type AttemptRef, STEPWARD_DIRECTORY } from './paths.ts';

/** The attempt's directory and its spool. Idempotent. Throws AttemptError, or the system's error. */
export const makeSpool = ({ cwd, job, attempt }: AttemptRef): Promise<void> =>
  makeDirectories(cwd, [STEPWARD_DIRECTORY, job, String(attempt), 'spool']);

/** One by one, below a directory that must exist. A link among them (a repository can bring one along) would put the key, and
 *  everything an agent signs, where the link points. */
export async function makeDirectories(base: string, names: string[]): Promise<void> {
  let path = base;
  for (const name of names) {
    path = join(path, name);
    await mkdir(path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    if (!(await lstat(path)).isDirectory()) throw new AttemptError('unusable', `${path} is not a directory of its own`);
  }
}
