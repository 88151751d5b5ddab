// Exit codes of `delegate` and `wait` (docs/design.md section 5), in one place: no command works one out by itself.
import type { Outcome, Reason } from './vocabulary.ts';

export const EXIT = Object.freeze({
  ok: 0,
  failed: 1,
  timedOut: 2,
  busAway: 3,
  refused: 4,
  undelivered: 5,
  parked: 6,
  usage: 64,
  interrupted: 130,
});

const TIMEOUTS: readonly Reason[] = ['deadline_timeout', 'idle_timeout', 'permission_timeout'];

/** 5 says: nothing was sent, so the same job may be dispatched again without thinking. A person's cancel is not such a case. */
export function exitCodeOf(outcome: Outcome): number {
  if (outcome.status === 'completed') return EXIT.ok;
  // Before the statuses: a job whose agent nobody could hear is neither a timeout of the agent's nor safely undelivered.
  if (outcome.reason === 'bus_away') return EXIT.busAway;
  if (outcome.status === 'cancelled') return outcome.reason === 'cancelled' ? EXIT.failed : EXIT.undelivered;
  return TIMEOUTS.includes(outcome.reason) ? EXIT.timedOut : EXIT.failed;
}
