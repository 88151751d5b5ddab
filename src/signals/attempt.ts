// The attempt's directory, made by the driver before anything is sent and cleaned of its key when the attempt ends.
import { readFile, rm } from 'node:fs/promises';
import { makeDirectories, makeSpool } from './directories.ts';
import { type AttemptEnv, ENV_SCHEMA } from './env-file.ts';
import { AttemptError } from './errors.ts';
import { excludeFromGit } from './exclude.ts';
import { codeOf, reasonOf, writeWhole } from './files.ts';
import { isCount, isJobId } from './names.ts';
import { type AttemptPaths, type AttemptRef, attemptPaths, STEPWARD_DIRECTORY } from './paths.ts';

export { type AttemptPaths, type AttemptRef, attemptPaths } from './paths.ts';

export interface Preparation extends AttemptRef {
  key: string;
  registryDir: string;
  brief: string;
  command: string;
}

/**
 * Makes the directory, or makes it whole again: a second driver runs it with the same key, and an agent may have swept it away.
 * Reports, manifests, sequence numbers and spooled envelopes that are there stay. Throws AttemptError `unusable`.
 */
export async function prepareAttempt(preparation: Preparation): Promise<AttemptPaths> {
  const { cwd, job, attempt, key, registryDir, brief, command } = preparation;
  if (!isJobId(job) || !isCount(attempt))
    throw new AttemptError('unusable', `no directory can be named ${job}/${attempt}`);
  const paths = attemptPaths(preparation);
  const env: AttemptEnv = { schema: ENV_SCHEMA, job, attempt, cwd, registryDir, command };
  try {
    await excludeFromGit(cwd, STEPWARD_DIRECTORY);
    await makeSpool(preparation);
    await makeDirectories(paths.dir, ['seq']);
    if ((await present(paths.key)) !== key) await writeWhole(paths.key, key, 0o600);
    await writeWhole(paths.brief, brief);
    await writeWhole(paths.env, `${JSON.stringify(env, null, 2)}\n`);
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    throw new AttemptError('unusable', `the working directory ${cwd} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return paths;
}

/** When the attempt ends: nothing signed with it counts any more. Idempotent. */
export async function removeKey(paths: Pick<AttemptPaths, 'key'>): Promise<void> {
  await rm(paths.key, { force: true }).catch((error: unknown) => {
    // The agent put a file where a directory above it was: the key is gone all the same.
    if (codeOf(error) !== 'ENOTDIR') throw error;
  });
}

const present = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
