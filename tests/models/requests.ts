// Rows and requests as the kernel sees them, made from the model's nodes.
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { PersistedSnapshot, Request, Row } from '../../src/kernel/ports.ts';
import type { JobState, Node } from './graph.ts';

export const persisted = (state: JobState): PersistedSnapshot =>
  JSON.parse(JSON.stringify(state.machine.getPersistedSnapshot(state))) as PersistedSnapshot;

export function rowOf({ state }: Node): Row {
  return {
    id: 'job',
    machine: 'job@1',
    version: 1,
    epoch: 1,
    attempt: 1,
    session: 'headless:a',
    spec: null,
    snapshot: persisted(state),
    phase: jobDefinition.phaseOf(state),
    state: jobDefinition.stateOf(state),
    outcome: jobDefinition.outcomeOf(state),
    key: 'k',
    cleanup: state.status === 'done' ? 'open' : 'none',
    faults: 0,
    faultReason: null,
    createdAt: 0,
    updatedAt: 0,
    since: 0,
  };
}

export const effectNames = [
  ...Object.keys(jobDefinition.logic.implementations.actors as Record<string, unknown>),
  'cleanup',
];

interface Said {
  attempt?: number;
  seq?: number;
  detail?: string;
  manifest?: string;
}

/** `signed` is a fact that admit is told; the signature itself is checked in src/signals. */
export function fromAgent(
  type: string,
  { attempt = 1, seq = 1, detail, manifest }: Said = {},
): Request & { from: 'agent' } {
  const event = { type, ...(detail !== undefined && { detail }), ...(manifest !== undefined && { manifest }) };
  return {
    from: 'agent',
    id: 'e1',
    envelope: { v: 1, id: 'e1', job: 'job', attempt, seq, event, at: '2026-01-01T00:00:00.000Z', sig: 's' },
  };
}

export const fromPerson = (type: string, extra: object = {}): Request & { from: 'person' } => ({
  from: 'person',
  id: 'p1',
  event: { type, ...extra },
  by: 'tester',
});

export const fromClock = (delay: string, eventType: string): Request => ({
  from: 'clock',
  timer: { job: 'job', id: eventType, delay, armedVersion: 1, fireAt: 0, event: { type: eventType }, silence: false },
});
