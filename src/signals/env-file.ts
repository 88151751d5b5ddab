// env.json: who the agent is. Apart from attempt.ts, which starts git: `emit` must not load node:child_process for a schema.
import { isAbsolute } from 'node:path';
import type { Way } from '../kernel/ports.ts';
import { isCount, isJobId, isRecord } from './names.ts';

export const ENV_SCHEMA = 'stepward.env/1';

/** In the order in which `emit` tries them (docs/design.md section 6). */
export const WAYS: readonly Way[] = Object.freeze(['inbox', 'bus', 'spool'] as const);

/** env.json. */
export interface AttemptEnv {
  schema: typeof ENV_SCHEMA;
  job: string;
  attempt: number;
  /** Absolute, as the driver sees it. */
  cwd: string;
  /** Absolute. */
  registryDir: string;
  /** What the agent types to run stepward. */
  command: string;
  /** Those that the attempt uses. Missing, as in files of older builds: all. */
  ways?: Way[];
}

/** Null: it is not one. */
export function parseEnv(text: string): AttemptEnv | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || value.schema !== ENV_SCHEMA) return null;
  const { job, attempt, registryDir, ways } = value;
  const isWhole = isJobId(job) && isCount(attempt) && typeof registryDir === 'string' && isAbsolute(registryDir);
  return isWhole && (ways === undefined || areWays(ways)) ? (value as unknown as AttemptEnv) : null;
}

const areWays = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((way) => WAYS.includes(way as Way));
