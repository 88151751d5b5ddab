// The words the job machine is written in: its context, effects, delays, guards and actions, all by name.
// Effects have no code here. The kernel turns each `invoke` into an outbox row; src/jobs performs it.
import { and, assign, fromPromise, not, or, setup, stateIn } from 'xstate';
import type { CleanupStep } from './cleanup.ts';
import type { JobEvent, JobInput } from './events.ts';
import type { RuleId } from './rules.ts';
import { DELIVERY_STEPS, type Hold, type Outcome, REMINDER_STEP } from './vocabulary.ts';

export interface JobContext extends JobInput {
  /** How the attempt will end. Set on the way into finalizing, or by an end before it. */
  outcome: Outcome | null;
  /** What was said or seen when the outcome was set; shown to people, read by no guard. */
  detail: string | null;
  /** sha256 of the manifest that the accepted `completed` named. */
  manifest: string | null;
  /** Why nothing was typed at the last look. */
  hold: Hold | null;
  /** The delivery step is marked, or there is evidence that our text arrived: "nothing was sent" cannot be said any more. */
  deliveryStarted: boolean;
  reminded: boolean;
  /** Our turn was running when it was last seen. Only such a turn may be interrupted afterwards. */
  turnRuns: boolean;
  /** Sequence number of the last applied permission event: older ones must not undo newer ones. */
  lastPermission: number;
  /** The agent has said something: that proves that our turn began, even if nobody saw it. */
  heardFromAgent: boolean;
  /** Why the bus is away; null while it is not known to be. Read by guards only of a job that is `busOnly`. */
  busAway: string | null;
  /** Whether the turn had ended when the report was verified; null where nobody waited for it. */
  settled: boolean | null;
}

export type Delivery = 'accepted' | 'rejected' | 'unknown';

/** An effect's name and result type. The machine must not be able to run it: a restored live actor would run it twice. */
const effect = <Result>(name: string) =>
  fromPromise<Result>(async () => {
    throw new Error(`effect ${name} runs from the outbox only`);
  });

const saysDelivery = (step: string): boolean => (DELIVERY_STEPS as readonly string[]).includes(step);

export const job = setup({
  types: {
    context: {} as JobContext,
    input: {} as JobInput,
    events: {} as JobEvent,
    tags: {} as 'pending' | 'injected' | 'finalizing',
    transitionMeta: {} as { rule: RuleId },
  },
  actors: {
    sessionLease: effect<void>('sessionLease'),
    preflight: effect<void>('preflight'),
    awaitIdle: effect<void>('awaitIdle'),
    openWays: effect<void>('openWays'),
    inject: effect<{ delivery: Delivery }>('inject'),
    watch: effect<void>('watch'),
    followBus: effect<void>('followBus'),
    remind: effect<void>('remind'),
    readDisk: effect<void>('readDisk'),
    drainWays: effect<void>('drainWays'),
    awaitTurn: effect<void>('awaitTurn'),
    verifyReport: effect<{ valid: boolean; why?: string }>('verifyReport'),
  },
  delays: {
    queueTimeout: ({ context }) => context.limits.queue,
    preflightLimit: ({ context }) => context.limits.preflight,
    idleProbeLimit: ({ context }) => context.limits.idleProbe,
    idleBackoff: ({ context }) => context.limits.idleBackoff,
    openWaysLimit: ({ context }) => context.limits.openWays,
    deadline: ({ context }) => context.limits.deadline,
    typingLimit: ({ context }) => context.limits.typing,
    idleTimeout: ({ context }) => context.limits.idle,
    permissionTimeout: ({ context }) => context.limits.permission,
    quiet: ({ context }) => context.limits.quiet,
    diskPoll: ({ context }) => context.limits.diskPoll,
    drainLimit: ({ context }) => context.limits.drain,
    settleGrace: ({ context }) => context.limits.settle,
    verifyLimit: ({ context }) => context.limits.verify,
  },
  guards: {
    retriesLeft: ({ context }) => context.idleRetries > 0,
    sawDialog: ({ context }) => context.hold === 'dialog',
    deliveryStarted: ({ context }) => context.deliveryStarted,
    deliveryRuns: stateIn('#submitting'),
    /** There is proof: the agent spoke, or our prompt is in its record. Without it, idle is the previous turn's. */
    turnBegan: or([stateIn('#accepted'), ({ context }) => context.heardFromAgent]),
    isDeliveryStep: ({ event }) => event.type === 'step.started' && saysDelivery(event.step),
    isReminderStep: ({ event }) => event.type === 'step.started' && event.step === REMINDER_STEP,
    wasAccepted: (_, params: { delivery: Delivery }) => params.delivery === 'accepted',
    wasRejected: (_, params: { delivery: Delivery }) => params.delivery === 'rejected',
    alreadyReminded: ({ context }) => context.reminded,
    newerThanQuestion: ({ context, event }) => 'seq' in event && event.seq > context.lastPermission,
    reportIsValid: (_, params: { valid: boolean }) => params.valid,
    agentReported: ({ context }) => isReport(context.outcome),
    claimsSuccess: ({ context }) => context.outcome?.status === 'completed',
    claimsFailure: ({ context }) => context.outcome?.status === 'failed',
    /** A clock or the transport spoke, not the agent and not a person: a report found while draining outranks it. */
    outcomeIsProvisional: ({ context }) =>
      !isReport(context.outcome) &&
      context.outcome?.reason !== 'report_invalid' &&
      context.outcome?.reason !== 'cancelled',
    deliveryUnknown: stateIn('#deliveryUnknown'),
    /** An agent that can only speak by the bus, while the bus is away: its silence says nothing about it. */
    unheard: ({ context }) => context.busOnly && context.busAway !== null,
    /** Silence counts only once our text may have arrived, while nobody is seen working, and while the agent could be heard. */
    idleClockRuns: and([
      not(stateIn('#submitting')),
      or([stateIn('#notBegun'), stateIn('#settled'), stateIn('#hidden')]),
      not('unheard'),
    ]),
  },
  actions: {
    end: assign(({ context, event }, outcome: Outcome) => ({
      outcome,
      detail: detailOf(outcome, context, event),
      manifest: event.type === 'completed' ? event.manifest : null,
    })),
    endInvalid: assign((_, params: { why: string }) => ({
      outcome: { status: 'failed' as const, reason: 'report_invalid' as const },
      detail: params.why,
    })),
    noteHold: assign(({ event }) => (event.type === 'hold.seen' ? { hold: event.hold } : {})),
    noteDelivery: assign({ deliveryStarted: true }),
    noteRunning: assign({ turnRuns: true }),
    noteNotRunning: assign({ turnRuns: false }),
    noteReminder: assign({ reminded: true }),
    noteAgent: assign({ heardFromAgent: true }),
    noteBusLost: assign(({ event }) => ({ busAway: saidBy(event) ?? 'nobody knows why' })),
    noteBusBack: assign({ busAway: null }),
    /** Changes nothing; a transition without an action would be refused, and its outbox row would stay open. */
    noteNothing: assign({}),
    notePermission: assign(({ event }) => ('seq' in event ? { lastPermission: event.seq, heardFromAgent: true } : {})),
    // A turn that was seen to end may be a person's by now: cleanup must not interrupt it.
    noteSettled: assign({ settled: true, turnRuns: false }),
    noteUnsettled: assign({ settled: false }),
    spendRetry: assign({ idleRetries: ({ context }) => context.idleRetries - 1 }),
    /** Never run here: transition() hands it to the kernel, which writes it to the outbox with the terminal commit. */
    cleanup: (_, _plan: CleanupStep[]) => {},
  },
});

/** A job that ends because nobody could hear its agent says why not. */
function detailOf({ reason }: Outcome, { busAway }: JobContext, event: object): string | null {
  if (reason === 'bus_away') return busAway;
  return saidBy(event) ?? (reason === 'no_channel' ? busAway : null);
}

/** What the event that ended it says: an agent's or a person's words, or why an effect failed. */
function saidBy(event: object): string | null {
  if ('detail' in event && typeof event.detail === 'string') return event.detail;
  if ('error' in event && typeof event.error === 'object' && event.error && 'message' in event.error) {
    return String(event.error.message);
  }
  return null;
}

const isReport = (outcome: Outcome | null): boolean =>
  outcome?.reason === 'reported' || outcome?.reason === 'agent_failed';

export const endAs = (status: Outcome['status'], reason: Outcome['reason']) => ({
  type: 'end' as const,
  params: { status, reason },
});
