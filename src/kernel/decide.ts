// The pure core: (persisted snapshot, event) → (persisted snapshot, effects as data). No clock, no IO, nothing is started.
// It refuses what XState would not: any event on a finished snapshot, a snapshot that does not restore, a lost child, an error.
import { type AnyMachineSnapshot, type AnyStateMachine, createActor, initialTransition, transition } from 'xstate';
import type { MachineDefinition } from './definition.ts';
import type { EffectWrite, Json, NextState, PersistedSnapshot } from './ports.ts';

export interface Decision {
  taken: boolean;
  next: NextState;
  effects: EffectWrite[];
}

/** A saved snapshot that this build cannot continue. The row becomes faulted; nothing is committed. */
export class RestoreError extends Error {
  override name = 'RestoreError';
}

export function begin(definition: MachineDefinition, input: Json): Decision {
  const [state, actions] = initialTransition(definition.logic, input as never);
  // Since 5.33 a context factory that throws gives an error snapshot instead of throwing.
  if (state.status === 'error') throw state.error;
  return { taken: true, ...packed(definition, state, actions) };
}

export function decide(definition: MachineDefinition, persisted: PersistedSnapshot, event: { type: string }): Decision {
  const before = restore(definition, persisted);
  // transition() would run handlers on a finished snapshot; can() ignores the status too.
  if (before.status !== 'active' || !before.can(event as never)) {
    return { taken: false, ...packed(definition, before, [], persisted) };
  }
  const [after, actions] = transition(light(definition.logic), before, event as never);
  if (after.status === 'error') throw (after as { error?: unknown }).error;
  return { taken: true, ...packed(definition, after, actions) };
}

/**
 * transition() makes an actor for its scope and throws it away; the actor works out the machine's first state, which costs as
 * much as the transition itself. The same machine with a first state worked out once.
 */
function light(logic: AnyStateMachine): AnyStateMachine {
  let known = lightened.get(logic);
  if (!known) {
    const first = createActor(logic).getSnapshot();
    known = Object.create(logic, { getInitialSnapshot: { value: () => first } }) as AnyStateMachine;
    lightened.set(logic, known);
  }
  return known;
}
const lightened = new WeakMap<AnyStateMachine, AnyStateMachine>();

/** Would the machine act on this event now? */
export function wouldTake(
  definition: MachineDefinition,
  persisted: PersistedSnapshot,
  event: { type: string },
): boolean {
  const state = restore(definition, persisted);
  return state.status === 'active' && state.can(event as never);
}

/** Snapshots already brought to life in this process. Rehydrating is half the price of a decision; a snapshot never changes. */
const alive = new WeakMap<PersistedSnapshot, AnyMachineSnapshot>();

/** Brings a stored snapshot to life without starting anything. Throws RestoreError where this build cannot continue it. */
export function restore(definition: MachineDefinition, persisted: PersistedSnapshot): AnyMachineSnapshot {
  const known = alive.get(persisted);
  if (known) return known;
  const actor = createActor(definition.logic, { snapshot: structuredClone(persisted) } as never);
  const state = actor.getSnapshot() as AnyMachineSnapshot;
  // A renamed state does not throw: it gives an error snapshot. A renamed actor silently loses its child, and the state that
  // waits for it would wait for ever.
  if (state.status === 'error' && persisted.status !== 'error') {
    throw new RestoreError(String((state as { error?: unknown }).error));
  }
  const lost = Object.keys(persisted.children).filter((id) => !(id in state.children));
  if (lost.length > 0) throw new RestoreError(`no logic for ${lost.join(', ')}`);
  alive.set(persisted, state);
  return state;
}

interface Action {
  type: string;
  params?: unknown;
}

function packed(
  definition: MachineDefinition,
  state: AnyMachineSnapshot,
  actions: readonly Action[],
  unchanged?: PersistedSnapshot,
): { next: NextState; effects: EffectWrite[] } {
  const snapshot = unchanged ?? (definition.logic.getPersistedSnapshot(state) as unknown as PersistedSnapshot);
  alive.set(snapshot, state);
  return {
    next: {
      snapshot,
      phase: definition.phaseOf(state),
      state: definition.stateOf(state),
      outcome: definition.outcomeOf(state),
    },
    effects: actions.flatMap((action) => toEffect(definition, action)),
  };
}

/** The shapes XState 5.33 gives to its own actions; it does not type them. */
interface XStateParams {
  id: string;
  src: string;
  input?: Json;
  event: { type: string };
  delay: number;
  sendId: string;
}

function toEffect(definition: MachineDefinition, action: Action): EffectWrite[] {
  const params = action.params as XStateParams;
  switch (action.type) {
    case 'xstate.spawnChild':
      return [{ kind: 'invoke', invokeId: params.id, src: params.src, input: params.input ?? null }];
    case 'xstate.stopChild':
      return [{ kind: 'stop', invokeId: params.id }];
    case 'xstate.raise': {
      const delay = delayName(params.event.type);
      const timer = { id: params.id, delay, event: params.event, silence: definition.isSilence(delay) };
      return [{ kind: 'arm', timer, afterMs: params.delay }];
    }
    case 'xstate.cancel':
      return [{ kind: 'disarm', timerId: params.sendId }];
    case 'cleanup':
      return [{ kind: 'cleanup', input: action.params as Json }];
    default:
      throw new Error(`no meaning for action ${action.type}`);
  }
}

/** `xstate.after.<delay>.<state id>` → `<delay>`. */
const delayName = (eventType: string): string => eventType.split('.')[2] ?? '';
