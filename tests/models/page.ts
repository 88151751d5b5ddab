// docs/design.md sections 4 and 5, typed out again for the tests: never derived from the machine or from its tables, so that a
// change of either has to be made twice, by somebody who reads.
import type { JobContext } from '../../machines/job/setup.ts';
import type { View } from './view.ts';

/** Set by the clock or the transport: gives way to an agent's report found while draining. */
export const PROVISIONAL = Object.freeze([
  'deadline_timeout',
  'idle_timeout',
  'permission_timeout',
  'bus_away',
  'delivery_unknown',
  'agent_exited',
  'session_busy',
  'session_blocked',
  'not_delivered',
]);
/** Exit 5: nothing was sent, so the same job may be dispatched again. */
export const RESCHEDULABLE = Object.freeze([
  'session_busy',
  'session_blocked',
  'preflight_failed',
  'no_channel',
  'not_delivered',
]);
/** Said only of an attempt whose delivery step was started. */
export const AFTER_DELIVERY = Object.freeze([
  'deadline_timeout',
  'idle_timeout',
  'permission_timeout',
  'delivery_unknown',
  'agent_exited',
]);
/** The agent's own words. */
export const REPORTS = Object.freeze(['reported', 'agent_failed']);

/** "Exit codes of delegate, wait, loop" (4, 6, 64 and 130 are no ends of a job's machine). */
export const EXIT_CODES: Readonly<Record<string, number>> = Object.freeze({
  'completed reported': 0,
  'failed agent_failed': 1,
  'failed report_invalid': 1,
  'failed delivery_unknown': 1,
  'failed agent_exited': 1,
  'failed internal_error': 1,
  'failed deadline_timeout': 2,
  'failed idle_timeout': 2,
  'failed permission_timeout': 2,
  'failed bus_away': 3,
  'cancelled bus_away': 3,
  'cancelled cancelled': 1,
  'cancelled session_busy': 5,
  'cancelled session_blocked': 5,
  'cancelled preflight_failed': 5,
  'cancelled no_channel': 5,
  'cancelled not_delivered': 5,
});

/** "Once the paste is over, while the turn has not begun, is settled, or cannot be observed"; it "stands still" while unheard. */
export const idleClockShouldRun = ({ delivery, turn, unheard }: View): boolean =>
  !unheard &&
  (delivery === 'accepted' || delivery === 'unknown') &&
  (turn === 'notBegun' || turn === 'quiet' || turn === 'reminding' || turn === 'waiting' || turn === 'hidden');

/** Which timers the page gives to a state. */
export function timersOf(view: View): string[] {
  const { place, part, delivery, turn, channel } = view;
  const timers: (string | false)[] = [
    place === 'queued' && 'queueTimeout',
    place === 'preflight' && 'preflightLimit',
    place === 'idle-wait' && (part === 'resting' ? 'idleBackoff' : 'idleProbeLimit'),
    place === 'subscribed' && 'openWaysLimit',
    (place === 'subscribed' || place === 'injected') && 'deadline',
    delivery === 'typing' && 'typingLimit',
    turn === 'blocked' && 'permissionTimeout',
    turn === 'quiet' && 'quiet',
    idleClockShouldRun(view) && 'idleTimeout',
    channel === 'resting' && 'diskPoll',
    part === 'draining' && 'drainLimit',
    part === 'settling' && 'settleGrace',
    part === 'verifying' && 'verifyLimit',
  ];
  return timers.filter((timer) => timer !== false).sort();
}

/** Which effects run in a state. The watcher may have ended before. */
export function effectsOf({ place, part, delivery, turn, channel }: View): string[] {
  const effects: (string | false)[] = [
    place === 'queued' && 'sessionLease',
    place === 'preflight' && 'preflight',
    place === 'idle-wait' && part === 'probing' && 'awaitIdle',
    place === 'subscribed' && 'openWays',
    place === 'injected' && 'watch',
    place === 'injected' && 'followBus',
    (delivery === 'holding' || delivery === 'typing') && 'inject',
    turn === 'reminding' && 'remind',
    channel === 'reading' && 'readDisk',
    part === 'draining' && 'drainWays',
    part === 'settling' && 'awaitTurn',
    part === 'verifying' && 'verifyReport',
  ];
  return effects.filter((effect) => effect !== false).sort();
}

/** Limits by the name of the timer, for a machine that was given `limits`. */
export const LENGTHS = Object.freeze({
  queueTimeout: 'queue',
  preflightLimit: 'preflight',
  idleProbeLimit: 'idleProbe',
  idleBackoff: 'idleBackoff',
  openWaysLimit: 'openWays',
  deadline: 'deadline',
  typingLimit: 'typing',
  permissionTimeout: 'permission',
  quiet: 'quiet',
  idleTimeout: 'idle',
  diskPoll: 'diskPoll',
  drainLimit: 'drain',
  settleGrace: 'settle',
  verifyLimit: 'verify',
} as const);

export type Column = 'queued…subscribed' | 'injected' | 'finalizing' | 'completed' | 'failed' | 'cancelled';
export const columnOf = ({ place, part }: View): Column => {
  if (place === 'injected' || place === 'finalizing') return place;
  return place === 'ended' ? (part as Column) : 'queued…subscribed';
};

const columns = ['queued…subscribed', 'injected', 'finalizing', 'completed', 'failed', 'cancelled'] as const;
const line = (...cells: string[]): Record<Column, string> =>
  Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])) as Record<Column, string>;

/** "The table", line by line. `report`: take if the outcome is provisional, else idempotent if same, else refused. */
export const TABLE_OF_THE_PAGE: Readonly<Record<string, Record<Column, string>>> = Object.freeze({
  started: line('take', 'take', 'refused', 'refused', 'refused', 'refused'),
  progress: line('take', 'take', 'refused', 'refused', 'refused', 'refused'),
  permission_required: line('take', 'take', 'refused', 'refused', 'refused', 'refused'),
  permission_cleared: line('take', 'take', 'refused', 'refused', 'refused', 'refused'),
  completed: line('take', 'take', 'report', 'idempotent', 'conflict', 'conflict'),
  failed: line('take', 'take', 'report', 'conflict', 'idempotent', 'conflict'),
  deadline_timeout: line('take', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  idle_timeout: line('refused', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  permission_timeout: line('refused', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  cancelled: line('take', 'take', 'refused', 'conflict', 'conflict', 'idempotent'),
  redispatch: line('refused', 'refused', 'refused', 'begin', 'begin', 'begin'),
});

/** What the page wants of a report in finalizing. */
export function reportCell(type: string, { outcome }: JobContext): 'take' | 'idempotent' | 'refused' {
  if (outcome && PROVISIONAL.includes(outcome.reason)) return 'take';
  return outcome?.status === type ? 'idempotent' : 'refused';
}

/** Cleanup: "only a turn of ours still working when last seen, never with a dialog open". */
export function mayInterrupt(last: { outcome: JobContext['outcome']; sent: boolean; working: boolean }): boolean {
  const { outcome, sent, working } = last;
  return sent && working && outcome?.status !== 'completed' && outcome?.reason !== 'permission_timeout';
}
