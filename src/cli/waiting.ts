// What a state waits for, and what a timer does, in words a person can act on. tests/cli/waiting.test.ts compares both lists
// with the machine: a state or timer without words fails there.
import type { Row } from '../kernel/ports.ts';
import { plain } from './text.ts';

/** By the longest prefix of the row's `state`. */
export const WAITS: Readonly<Record<string, string>> = Object.freeze({
  queued: 'waits for its session, which another job holds, or for a driver',
  preflight: 'checks that the place can be used and writes the brief',
  'idle-wait.probing': 'waits until the agent is idle; nothing has been sent',
  'idle-wait.resting': 'the agent was busy; pauses before it looks again; nothing has been sent',
  subscribed: 'opens every way by which the agent can report',
  'injected.submitting.holding': 'is about to deliver the brief; nothing has been sent',
  'injected.submitting.typing': 'delivers the brief',
  'injected.unknown':
    'the brief was sent, but whether it arrived is unknown; waits for a sign of the agent; nobody sends it again',
  'injected.notBegun': 'the brief was delivered; waits for the agent to begin or to report',
  'injected.working': 'the agent works; waits for its report',
  'injected.blocked': 'the agent asks for a permission; waits for a person to answer there',
  'injected.settled.quiet': 'the agent has stopped without a report; waits a moment for one that is under way',
  'injected.settled.reminding': 'the agent has stopped without a report; reminds it, once',
  'injected.settled.waiting': 'the agent has stopped without a report; waits for one',
  'injected.hidden': 'the agent has the brief; its turn cannot be observed; waits for its report',
  'finalizing.draining': 'the attempt is ending; reads what is still under way',
  'finalizing.settling': 'the agent has reported; waits until its turn ends',
  'finalizing.verifying': 'verifies the report against its manifest',
  completed: 'has ended: the report was signed for this attempt and its manifest verifies',
  failed: 'has ended: failed',
  cancelled: 'has ended: cancelled',
});

/** `busAway`: why the bus is away, if it is. */
export function waitsFor(state: string, busAway: string | null = null): string {
  const prefix = Object.keys(WAITS)
    .filter((known) => state === known || state.startsWith(`${known}.`))
    .sort((a, b) => b.length - a.length)[0];
  const words = prefix === undefined ? `is in ${state}` : WAITS[prefix]!;
  return busAway === null ? words : `${words}; the bus is away: ${plain(busAway)}`;
}

/** What happens when the timer of that delay fires. */
export const THEN: Readonly<Record<string, (delivered: boolean, unheard?: boolean) => string>> = Object.freeze({
  queueTimeout: () => 'cancelled session_busy, nothing sent (exit 5)',
  preflightLimit: () => 'cancelled preflight_failed, nothing sent (exit 5)',
  idleProbeLimit: () => 'looks again after a pause; with no retry left: cancelled session_busy, nothing sent (exit 5)',
  idleBackoff: () => 'looks again',
  openWaysLimit: () => 'cancelled no_channel, nothing sent (exit 5)',
  deadline: (delivered, unheard) => {
    if (unheard) return `${delivered ? 'failed' : 'cancelled'} bus_away, since nobody can hear the agent (exit 3)`;
    return delivered ? 'failed deadline_timeout (exit 2)' : 'cancelled session_busy, nothing sent (exit 5)';
  },
  typingLimit: () => 'the delivery counts as unknown; nobody sends it again',
  idleTimeout: () => 'failed idle_timeout (exit 2), or delivery_unknown if no sign of the agent came (exit 1)',
  permissionTimeout: () => 'failed permission_timeout (exit 2), the dialog left untouched',
  quiet: (_, unheard) => (unheard ? 'waits on: an answer could not be heard' : 'reminds the agent, once'),
  diskPoll: () => 'reads the disk again',
  drainLimit: () => 'ends, or waits for the turn of the agent that reported',
  settleGrace: () => 'verifies the report although the turn still runs',
  verifyLimit: () => 'failed report_invalid (exit 1)',
  'kernel.fault': () => 'closed failed internal_error (exit 1)',
});

export const wasDelivered = (row: Pick<Row, 'snapshot'>): boolean => row.snapshot.context.deliveryStarted === true;

/** Why the bus is away, while that may matter to the row. */
export function busAwayOf(row: Pick<Row, 'snapshot' | 'phase'>): string | null {
  const { busAway } = row.snapshot.context;
  return (row.phase === 'pending' || row.phase === 'injected') && typeof busAway === 'string' ? busAway : null;
}

/** Its agent can speak by nothing but the bus, and the bus is away. */
export const isUnheard = (row: Pick<Row, 'snapshot' | 'phase'>): boolean =>
  row.snapshot.context.busOnly === true && busAwayOf(row) !== null;
