// The events that the model tries in a state: the page's words, whether the machine listens to them there or not, and what the
// state itself waits for (results of its effects, its timers). A wrong payload set would leave guard branches untried.
import { getNextTransitions } from 'xstate';
import type { JobState } from './graph.ts';

export interface ModelEvent {
  type: string;
  [field: string]: unknown;
}

export const MANIFEST = 'a'.repeat(64);
export const NEWS = Object.freeze(['started', 'progress', 'permission_required', 'permission_cleared']);

/** Sequence numbers are relative to the last permission event that was applied: the guards compare with nothing else. */
function fromAgent(lastPermission: number): ModelEvent[] {
  const news = NEWS.flatMap((type) => {
    const newer = { type, seq: lastPermission + 1 };
    return lastPermission > 0 ? [newer, { type, seq: lastPermission }] : [newer];
  });
  const seq = lastPermission + 1;
  return [...news, { type: 'completed', seq, manifest: MANIFEST }, { type: 'failed', seq, detail: 'gave up' }];
}

const FROM_PERSON: readonly ModelEvent[] = [{ type: 'deadline_timeout' }, { type: 'cancelled', detail: 'by hand' }];

/** `enter` is a once step that carries no text of ours: it must mean nothing to the machine. */
const SEEN: readonly ModelEvent[] = [
  { type: 'hold.seen', hold: 'draft' },
  { type: 'hold.seen', hold: 'dialog' },
  { type: 'step.started', step: 'paste' },
  { type: 'step.started', step: 'enter' },
  { type: 'step.started', step: 'remind-paste' },
  { type: 'nonce.seen' },
  { type: 'turn.working' },
  { type: 'turn.blocked' },
  { type: 'turn.settled' },
  { type: 'turn.hidden' },
  { type: 'agent.exited', detail: 'exited with code 1' },
  { type: 'bus.lost', detail: 'the broker is away' },
  { type: 'bus.back' },
];

const OUTPUTS: Readonly<Record<string, readonly object[]>> = {
  inject: [{ delivery: 'accepted' }, { delivery: 'rejected' }, { delivery: 'unknown' }],
  verifyReport: [{ valid: true }, { valid: false, why: 'altered' }],
};

/** What comes from outside this state: refused or taken, everybody may send it at any moment. */
export const outsideEvents = (lastPermission: number): ModelEvent[] => [
  ...fromAgent(lastPermission),
  ...FROM_PERSON,
  ...SEEN,
];

/** The results of what runs in this state, and its timers. Only the kernel makes them, and only while their row is open. */
export function ownEvents(state: JobState): ModelEvent[] {
  const types = new Set(getNextTransitions(state).map((transition) => transition.eventType));
  return [...types].flatMap((type): ModelEvent[] => {
    const { kind, name } = internal(type);
    if (kind === 'timer') return [{ type }];
    if (kind === 'error') return [{ type, error: { message: `${name} broke` } }];
    if (kind === 'done') return (OUTPUTS[name] ?? [undefined]).map((output) => ({ type, output }));
    return [];
  });
}

// Outside events first: the shortest way to a hidden turn then leaves the watcher alive, so that it can end later.
export const eventsFor = (state: JobState): ModelEvent[] => [
  ...outsideEvents(state.context.lastPermission),
  ...(state.status === 'active' ? ownEvents(state) : []),
];

export interface Internal {
  kind: 'done' | 'error' | 'timer' | null;
  /** The invoke's id, or the delay's name. */
  name: string;
}

export function internal(type: string): Internal {
  const [, word = '', about = '', name = ''] = type.split('.');
  if (!type.startsWith('xstate.')) return { kind: null, name: type };
  if (word === 'after') return { kind: 'timer', name: about };
  if (about === 'actor' && (word === 'done' || word === 'error')) return { kind: word, name };
  return { kind: null, name: type };
}

/** `inject done: rejected`, `deadline fires`, `progress newer`: what a person reads in a test's name. */
export function eventName(event: ModelEvent, lastPermission: number): string {
  const { kind, name } = internal(event.type);
  const output = event.output as { delivery?: string; valid?: boolean } | undefined;
  if (kind === 'timer') return `${name} fires`;
  if (kind === 'error') return `${name} breaks`;
  if (kind === 'done')
    return output ? `${name} done: ${output.delivery ?? (output.valid ? 'valid' : 'invalid')}` : `${name} done`;
  if (NEWS.includes(event.type)) return `${event.type} ${Number(event.seq) > lastPermission ? 'newer' : 'older'}`;
  const word = event.hold ?? event.step;
  return word === undefined ? event.type : `${event.type} ${String(word)}`;
}
