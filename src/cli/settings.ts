// Limits and names from three places: flags beat the environment, the environment beats the config.
import { Limits } from '../../machines/job/events.ts';
import type { Config } from './config/schema.ts';
import { DURATION_FORM, parseDuration } from './durations.ts';
import { UsageError } from './errors.ts';

/** Each limit of a job that a caller may set, by its flag, its variable and its key in the config. */
const SOURCES = Object.freeze({
  deadline: { flag: 'timeout', option: '--timeout', variable: 'STEPWARD_TIMEOUT', key: 'job' },
  idle: { flag: 'idleTimeout', option: '--idle-timeout', variable: 'STEPWARD_IDLE_TIMEOUT', key: 'idle' },
  permission: {
    flag: 'permissionTimeout',
    option: '--permission-timeout',
    variable: 'STEPWARD_PERMISSION_TIMEOUT',
    key: 'permission',
  },
  queue: { flag: 'queueTimeout', option: '--queue-timeout', variable: 'STEPWARD_QUEUE_TIMEOUT', key: 'queue' },
} as const);

export interface LimitFlags {
  timeout?: string | undefined;
  idleTimeout?: string | undefined;
  permissionTimeout?: string | undefined;
  queueTimeout?: string | undefined;
}

/** All limits of a job, ms. Throws UsageError. */
export function resolveLimits(flags: LimitFlags, env: NodeJS.ProcessEnv, timeouts: Config['timeouts']): Limits {
  const chosen: Partial<Limits> = {};
  for (const [limit, { flag, option, variable, key }] of Object.entries(SOURCES)) {
    const fromFlag = flags[flag];
    const text = fromFlag ?? nonEmpty(env[variable]);
    const ms = text === undefined ? timeouts[key] : duration(fromFlag === undefined ? variable : option, text);
    if (ms !== undefined) chosen[limit as keyof typeof SOURCES] = ms;
  }
  const limits = Limits.parse(chosen);
  // Waiting in the queue longer than the work itself may take is nothing that anybody asked for (section 5, queued).
  return chosen.queue === undefined ? { ...limits, queue: limits.deadline } : limits;
}

function duration(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError({ option, value: text, problem: 'is not a duration', allowed: DURATION_FORM });
  return ms;
}

/** `VARIABLE=` in front of a command means: not set. */
export const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
