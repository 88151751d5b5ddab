// env.json: who the agent is. Apart from attempt.ts, which starts git: `emit` must not load node:child_process for a schema.
import { isAbsolute } from 'node:path';
import { isCount, isJobId, isRecord } from './names.ts';

export const ENV_SCHEMA = 'stepward.env/1';

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
  const { job, attempt, registryDir } = value;
  const isWhole = isJobId(job) && isCount(attempt) && typeof registryDir === 'string' && isAbsolute(registryDir);
  return isWhole ? (value as unknown as AttemptEnv) : null;
}
