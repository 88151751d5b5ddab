// The job machine, as the kernel sees it.
import type { AnyMachineSnapshot } from 'xstate';
import { cleanupPlan } from '../../machines/job/cleanup.ts';
import { AgentEvent, PersonEvent } from '../../machines/job/events.ts';
import { jobMachine } from '../../machines/job/machine.ts';
import type { JobContext } from '../../machines/job/setup.ts';
import { EFFECT_LIMITS, kindOf, kindOfTimer, SILENCE_DELAYS, TABLE } from '../../machines/job/table.ts';
import { CLOSE_REQUESTS, isAgentEvent, type Phase } from '../../machines/job/vocabulary.ts';
import type { MachineDefinition } from '../kernel/definition.ts';
import type { Json, OutsideRequest } from '../kernel/ports.ts';
import { specOf } from './spec.ts';

export const jobDefinition: MachineDefinition = {
  name: 'job',
  version: 1,
  logic: jobMachine,
  inputOf: (spec) => {
    const { idleRetries, limits, ways } = specOf({ spec });
    return { idleRetries, limits, busOnly: ways.length === 1 && ways[0] === 'bus' };
  },
  faultedMs: (spec) => specOf({ spec }).limits.deadline,
  table: TABLE,
  kindOf: (type) => (isKnown(type) ? kindOf(type) : null),
  kindOfTimer,
  isSilence: (delay) => SILENCE_DELAYS.includes(delay),
  effectLimitMs(spec, delay) {
    const limit = EFFECT_LIMITS[delay];
    return limit === undefined ? null : specOf({ spec }).limits[limit];
  },
  parse,
  phaseOf,
  stateOf,
  outcomeOf: (state) => (state.context as JobContext).outcome,
  forcedEnd(snapshot) {
    const outcome = { status: 'failed', reason: 'internal_error' } as const;
    // Nothing is known about a turn of ours that may run: cleanup looks, and quarantines what is not clean.
    const plan = cleanupPlan({ outcome, deliveryStarted: true, turnRuns: true });
    const context = { ...snapshot.context, outcome, detail: 'the row could not be continued' };
    return {
      next: {
        snapshot: { ...snapshot, status: 'done', value: 'failed', context, children: {} },
        phase: 'failed',
        state: 'failed',
        outcome,
      },
      cleanup: plan as unknown as Json,
    };
  },
  migrations: {},
};

const isKnown = (type: string): type is Parameters<typeof kindOf>[0] =>
  isAgentEvent(type) || type === 'redispatch' || (CLOSE_REQUESTS as readonly string[]).includes(type);

function parse(request: OutsideRequest): { type: string } | null {
  if (request.from === 'agent') {
    const { event, seq } = request.envelope;
    return AgentEvent.safeParse({ ...event, seq }).data ?? null;
  }
  if (request.event.type === 'redispatch') {
    return 'attempt' in request.event && Number.isInteger(request.event.attempt) ? request.event : null;
  }
  return PersonEvent.safeParse(request.event).data ?? null;
}

function phaseOf(state: AnyMachineSnapshot): Phase {
  if (state.status === 'done') return state.value as Phase;
  if (state.hasTag('finalizing')) return 'finalizing';
  return state.hasTag('injected') ? 'injected' : 'pending';
}

/** One dotted path for people. In injected the delivery is told until it is over, then the turn: what a reader waits for. */
function stateOf(state: AnyMachineSnapshot): string {
  const value = state.value as string | Record<string, unknown>;
  if (typeof value !== 'string') {
    const dispatched = value.dispatched as string | { injected: { delivery: string | object; turn: string | object } };
    if (typeof dispatched === 'string') return dispatched;
    if (dispatched) {
      const { delivery, turn } = dispatched.injected;
      return `injected.${delivery === 'accepted' ? path(turn) : path(delivery)}`;
    }
  }
  return path(value);
}

const path = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [name, below] = Object.entries(value as Record<string, unknown>)[0] ?? ['', ''];
  return `${name}.${path(below)}`;
};
