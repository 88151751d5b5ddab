// Which attempt is speaking? Its environment file says it, or its directory is found by walking up. No fallback: identity that
// cannot be read is an error, never a guess.
import { dirname, resolve } from 'node:path';
import type { Way } from '../kernel/ports.ts';
import { parseEnv, WAYS } from './env-file.ts';
import { AttemptError, InputError } from './errors.ts';
import { codeOf, readRegular, reasonOf } from './files.ts';
import { isCount, isJobId } from './names.ts';
import { type AttemptPaths, type AttemptRef, attemptPaths, pathsIn, placeOf } from './paths.ts';

/** `cwd` as this process sees it. */
export interface Located extends AttemptRef {
  registryDir: string;
  /** Those that this attempt uses. */
  ways: readonly Way[];
  paths: AttemptPaths;
}

export interface Search {
  /** Where to begin walking up. */
  from: string;
  /** The value of STEPWARD_ENV. */
  envFile: string | undefined;
  /** The values of --job and --attempt. */
  job: string | undefined;
  attempt: string | undefined;
}

const ENV_LIMIT = 64 * 1024;

/** Throws InputError for values that name no attempt, AttemptError `not_found` for one that is not here. */
export async function locateAttempt({ from, envFile, job, attempt }: Search): Promise<Located> {
  if (job === undefined && attempt === undefined) {
    if (envFile) return byEnvFile(envFile);
    throw new InputError(
      'STEPWARD_ENV',
      null,
      'is not set',
      'the env.json that the brief names, or --job J --attempt N',
    );
  }
  if (job === undefined) throw new InputError('--attempt', attempt ?? '', 'needs --job too', '--job J --attempt N');
  if (!isJobId(job)) throw new InputError('--job', job, 'is no job id', 'letters, digits, `.`, `_` and `-`');
  if (attempt === undefined) throw new InputError('--job', job, 'needs --attempt too', '--job J --attempt N');
  const number = /^\d+$/.test(attempt) ? Number(attempt) : 0;
  if (!isCount(number)) throw new InputError('--attempt', attempt, 'is no attempt', 'a whole number from 1');

  const above = await walkUp(resolve(from), job, number);
  if (above) return above;
  const named = envFile ? await byEnvFile(envFile).catch(() => null) : null;
  if (named?.job === job && named.attempt === number) return named;
  throw new AttemptError('not_found', `no directory of job ${job}, attempt ${number} at or above ${from}`);
}

async function walkUp(from: string, job: string, attempt: number): Promise<Located | null> {
  let blocked: InputError | null = null;
  for (let cwd = from; ; cwd = dirname(cwd)) {
    const { env } = attemptPaths({ cwd, job, attempt });
    const text = await readRegular(env, ENV_LIMIT).catch((error: unknown) => {
      if (!isAbsent(error)) blocked ??= unreadable('--job', env, reasonOf(error));
      return null;
    });
    if (text !== null) return located(env, text);
    if (cwd === dirname(cwd)) break;
  }
  if (blocked) throw blocked;
  return null;
}

const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');

async function byEnvFile(value: string): Promise<Located> {
  const file = resolve(value);
  let text: string;
  try {
    text = await readRegular(file, ENV_LIMIT);
  } catch (error) {
    throw unreadable('STEPWARD_ENV', value, reasonOf(error));
  }
  return located(file, text);
}

function located(file: string, text: string): Located {
  const dir = dirname(file);
  const place = placeOf(dir);
  if (!place) throw unreadable('STEPWARD_ENV', file, 'does not lie in an attempt’s directory');
  const env = parseEnv(text);
  if (env?.job !== place.job || env.attempt !== place.attempt) {
    throw unreadable('STEPWARD_ENV', file, 'is not the environment of the attempt in whose directory it lies');
  }
  return { ...place, registryDir: env.registryDir, ways: env.ways ?? WAYS, paths: pathsIn(dir) };
}

const unreadable = (option: string, value: string, problem: string): InputError =>
  new InputError(option, value, problem, 'the env.json that stepward wrote for this attempt');

/** Throws AttemptError `no_key`. */
export async function readKey(paths: AttemptPaths): Promise<string> {
  try {
    const key = (await readRegular(paths.key, 4096)).trim();
    if (key !== '') return key;
  } catch (error) {
    const ended = codeOf(error) === 'ENOENT' ? 'is gone: it is removed when the attempt ends' : `cannot be read`;
    throw new AttemptError('no_key', `the attempt's key ${paths.key} ${ended} (${reasonOf(error)})`, { cause: error });
  }
  throw new AttemptError('no_key', `the attempt's key ${paths.key} is empty`);
}
