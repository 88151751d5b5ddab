// A plan: a seed, a world, and what goes wrong when. As JSON it can be printed, shrunk and played again.
import { Limits } from '../../machines/job/events.ts';
import type { JobSpec } from '../../src/jobs/spec.ts';
import type { Json } from '../../src/kernel/ports.ts';
import type { Meddling, WorldOptions } from './world.ts';

export type Trouble =
  /** The process that has reached the place is killed, as by -9. Without a place: any. */
  | 'kill'
  /** It sleeps 40 s, or 400 s, and goes on where it was. */
  | 'stall'
  | 'long-stall'
  /** Only this one step of it takes 20 s; the rest of the process goes on. */
  | 'slow'
  /** It is asked to stop, and releases what it holds. */
  | 'stop'
  | 'second-driver'
  /** For 20 s nothing that it writes finds room. */
  | 'full-disk'
  /** Every driver dies, and none comes for 1,000 s, 180 s or 45 s; the agents go on meanwhile. */
  | 'night'
  | 'absence'
  | 'short-absence'
  /** Requests of a person, left in the inbox. */
  | 'cancel'
  | 'close'
  | 'redispatch'
  /** A command that asks, decides itself where nobody drives, tidies up and exits. */
  | 'cancel-command'
  | 'close-command'
  /** Envelopes that are not what they seem. */
  | 'duplicate'
  | 'forge'
  | 'old-attempt'
  /** From here on the agent only works and never speaks. */
  | 'deaf-agent'
  /** The broker is gone, comes again, or drops everybody for a moment. */
  | 'bus-away'
  | 'bus-back'
  | 'bus-blinks';

export interface Mishap {
  /** Simulated seconds from the start, or the n-th time that a place is reached. */
  at: { second: number } | { label: string; nth: number };
  do: Trouble | Meddling;
}

export interface Plan {
  seed: number;
  world: WorldOptions;
  jobs: 1 | 2;
  mishaps: Mishap[];
}

/** No mishap of a random plan comes later; what is planned for a place is then forgotten. */
export const LAST_MISHAP_S = 160;

/** Shorter than the real ones and in the same order, so that a run takes some thousand gates. */
export const LIMITS = Limits.parse({
  queue: 900_000,
  preflight: 30_000,
  idleProbe: 40_000,
  idleBackoff: 10_000,
  openWays: 30_000,
  deadline: 600_000,
  typing: 60_000,
  idle: 90_000,
  permission: 100_000,
  quiet: 5_000,
  diskPoll: 3_000,
  drain: 5_000,
  verify: 30_000,
  settle: 60_000,
});

/** Twice the sum of everything a row may wait for: who has not ended by then hangs. */
export const ALL_CALM_MS = 2 * (900_000 + 30_000 + 150_000 + 630_000 + 95_000 + 120_000);

export const JOBS = ['a', 'b'] as const;

export function specFor(job: string, { kind, busOnly }: WorldOptions): JobSpec {
  // Panes are shared, processes are not.
  const place =
    kind === 'pane' ? { transport: 'human' as const, target: 'pane' } : { transport: 'headless' as const, target: job };
  return {
    agent: 'simulated',
    kind: 'command',
    ...place,
    cwd: '/simulated',
    task: 'simulate',
    title: 'simulate',
    argv: [],
    env: {},
    limits: LIMITS,
    idleRetries: 2,
    ways: busOnly ? ['bus'] : ['inbox', 'bus', 'spool'],
    registryDir: '/simulated/.stepward',
  };
}

export const asJson = (spec: JobSpec): Json => spec as unknown as Json;
