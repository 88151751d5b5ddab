// A row from the moment its lease is claimed: what a driver keeps in memory about it.
import { type Held, LEASE } from './context.ts';
import { createPoke } from './poke.ts';
import type { Clock } from './ports.ts';

interface Claimed {
  job: string;
  epoch: number;
  concludes: boolean;
  /** Registry time of the claim, ms. */
  now: number;
}

export const makeHeld = ({ job, epoch, concludes, now }: Claimed, clock: Clock): Held => ({
  job,
  epoch,
  concludes,
  renewedAt: now,
  unbrokenSince: now,
  poke: createPoke(clock),
  tasks: new Map(),
  cached: null,
  lookedAt: 0,
  look: new AbortController(),
  lookAsked: null,
  turn: Promise.resolve(),
  draining: Promise.resolve(),
  working: Promise.resolve(),
  stop: new AbortController(),
  waysTrouble: null,
});

/** Later than this after the last renewal, the driver has been asleep or stalled. */
const isLate = (held: Held, now: number): boolean => now - held.renewedAt > 2 * LEASE.renewMs;

/** After a renewal. `now` is registry time, ms. */
export function noteRenewed(held: Held, now: number): void {
  if (isLate(held, now)) held.unbrokenSince = now;
  held.renewedAt = now;
}

export { isLate as wasAsleep };
