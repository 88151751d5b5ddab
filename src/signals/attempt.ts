// The attempt's directory, made by the driver before anything is sent and cleaned of its key when the attempt ends.
import { readFile, rm } from 'node:fs/promises';
import type { Way } from '../kernel/ports.ts';
import { addressText } from './bus/address.ts';
import type { AgentAddress } from './bus/types.ts';
import { makeDirectories, makeSpool } from './directories.ts';
import { type AttemptEnv, ENV_SCHEMA, WAYS } from './env-file.ts';
import { AttemptError } from './errors.ts';
import { excludeFromGit } from './exclude.ts';
import { codeOf, reasonOf, writeWhole } from './files.ts';
import { isCount, isJobId } from './names.ts';
import { type AttemptPaths, type AttemptRef, attemptPaths, placeOf, STEPWARD_DIRECTORY } from './paths.ts';

export { type AttemptPaths, type AttemptRef, attemptPaths } from './paths.ts';

export interface Preparation extends AttemptRef {
  key: string;
  registryDir: string;
  brief: string;
  command: string;
  /** The ways that `emit` uses; default: all. */
  ways?: readonly Way[];
  /** What bus.json says. Absent: there is none, or it is not known yet; what somebody has written meanwhile stays. */
  bus?: AgentAddress;
}

/**
 * Makes the directory, or makes it whole again: a second driver runs it with the same key, and an agent may have swept it away.
 * Reports, manifests, sequence numbers and spooled envelopes that are there stay. Throws AttemptError `unusable`.
 */
export async function prepareAttempt(preparation: Preparation): Promise<AttemptPaths> {
  const { cwd, job, attempt, key, registryDir, brief, command, ways = WAYS, bus } = preparation;
  if (!isJobId(job) || !isCount(attempt))
    throw new AttemptError('unusable', `no directory can be named ${job}/${attempt}`);
  const paths = attemptPaths(preparation);
  const env: AttemptEnv = { schema: ENV_SCHEMA, job, attempt, cwd, registryDir, command, ways: [...ways] };
  try {
    await excludeFromGit(cwd, STEPWARD_DIRECTORY);
    await makeSpool(preparation);
    await makeDirectories(paths.dir, ['seq']);
    if ((await present(paths.key)) !== key) await writeWhole(paths.key, key, 0o600);
    await writeWhole(paths.brief, brief);
    await writeWhole(paths.env, `${JSON.stringify(env, null, 2)}\n`);
    if (bus) await putAddress(paths, bus);
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    throw new AttemptError('unusable', `the working directory ${cwd} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return paths;
}

/**
 * When the address changes: an agent that speaks later must find it. Writes only what is not there already, and makes the directory
 * anew if the agent swept it away. Null removes it. Throws AttemptError `unusable`.
 */
export async function writeBusAddress(paths: AttemptPaths, address: AgentAddress | null): Promise<void> {
  try {
    const place = placeOf(paths.dir);
    if (!place) throw new AttemptError('unusable', `${paths.dir} is no attempt's directory`);
    if (address) await makeSpool(place);
    await putAddress(paths, address);
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    throw new AttemptError('unusable', `${paths.bus} cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

async function putAddress({ bus }: Pick<AttemptPaths, 'bus'>, address: AgentAddress | null): Promise<void> {
  if (!address) return remove(bus);
  const text = addressText(address);
  if ((await present(bus)) !== text) await writeWhole(bus, text, 0o600);
}

/** When the attempt ends: nothing signed with it counts any more, and nobody needs the broker's password. Idempotent. */
export async function removeKey(paths: Pick<AttemptPaths, 'key' | 'bus'>): Promise<void> {
  await remove(paths.key);
  await remove(paths.bus);
}

const remove = (path: string): Promise<void> =>
  rm(path, { force: true }).catch((error: unknown) => {
    // The agent put a file where a directory above it was: it is gone all the same.
    if (codeOf(error) !== 'ENOTDIR') throw error;
  });

const present = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
