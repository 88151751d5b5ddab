// Where an attempt's files are. The directory lies inside the agent's working directory, since that is the one place which every
// sandbox leaves writable.
import { basename, dirname, join, resolve } from 'node:path';
import { isCount, isJobId } from './names.ts';

export const STEPWARD_DIRECTORY = '.stepward';

export interface AttemptRef {
  /** The agent's working directory, absolute. */
  cwd: string;
  job: string;
  attempt: number;
}

export interface AttemptPaths {
  /** `<cwd>/.stepward/<job>/<attempt>` */
  dir: string;
  brief: string;
  /** Who the agent is: the file that `STEPWARD_ENV` names. */
  env: string;
  key: string;
  /** How the agent reaches the bus, where it may. */
  bus: string;
  /** One file a sequence number. */
  seq: string;
  spool: string;
  /** Spool files that were no envelopes of this attempt, each with its reason beside it. */
  refused: string;
  /** Where an agent writes its report if nobody says otherwise. */
  report: string;
  manifest: string;
}

export const attemptPaths = ({ cwd, job, attempt }: AttemptRef): AttemptPaths =>
  pathsIn(join(cwd, STEPWARD_DIRECTORY, job, String(attempt)));

export const pathsIn = (dir: string): AttemptPaths => ({
  dir,
  brief: join(dir, 'brief.md'),
  env: join(dir, 'env.json'),
  key: join(dir, 'key'),
  bus: join(dir, 'bus.json'),
  seq: join(dir, 'seq'),
  spool: join(dir, 'spool'),
  refused: join(dir, 'spool', 'refused'),
  report: join(dir, 'report.md'),
  manifest: join(dir, 'manifest.json'),
});

/** Job, attempt and working directory as the directory's own place tells them: true also where the working directory is mounted
 *  under another name, as in a container. Null if it is no attempt's directory. */
export function placeOf(dir: string): AttemptRef | null {
  const [attempt, job] = [Number(basename(dir)), basename(dirname(dir))];
  const parent = dirname(dirname(dir));
  if (!isCount(attempt) || !isJobId(job) || basename(parent) !== STEPWARD_DIRECTORY) return null;
  return { job, attempt, cwd: resolve(parent, '..') };
}
