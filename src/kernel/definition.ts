// What the kernel must know about a machine beside its XState logic. One definition per machine; the job's is made in src/jobs.
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Cell, RequestKind } from '../../machines/job/table.ts';
import type { Outcome, Phase } from '../../machines/job/vocabulary.ts';
import type { Json, NextState, OutboxRow, OutsideRequest, PersistedSnapshot, TimerRow } from './ports.ts';

export interface MachineDefinition {
  /** `job`; with the version it makes the row's `machine`: `job@1`. */
  name: string;
  version: number;
  logic: AnyStateMachine;
  /** The machine's input for a new attempt, from what the caller asked for. */
  inputOf(spec: Json): Json;
  /** How long a faulted row may wait for a build that can continue it, ms, where no deadline is armed. */
  faultedMs(spec: Json): number;
  table: Readonly<Record<RequestKind, Readonly<Record<Phase, Cell>>>>;
  /** The row of the table for an outside event, or null if the machine has no such event. */
  kindOf(type: string): RequestKind | null;
  /** The row of the table for a timer, or null if it belongs to one state only. */
  kindOfTimer(delay: string): RequestKind | null;
  isSilence(delay: string): boolean;
  /** How long the effect may take that the timer limits, ms; null if it limits none. */
  effectLimitMs(spec: Json, delay: string): number | null;
  /** The allow-list: what the machine may be sent from outside. Null: malformed. */
  parse(request: OutsideRequest): { type: string } | null;
  phaseOf(state: AnyMachineSnapshot): Phase;
  stateOf(state: AnyMachineSnapshot): string;
  outcomeOf(state: AnyMachineSnapshot): Outcome | null;
  /** The end of a faulted row, made without the machine, whose snapshot may not restore. */
  forcedEnd(snapshot: PersistedSnapshot): { next: NextState; cleanup: Json };
  /** From version n to n + 1, by n. Together they reach `version` from any older one that a registry may hold. */
  migrations: Readonly<Record<number, Migration>>;
}

export interface Migratable {
  snapshot: PersistedSnapshot;
  timers: TimerRow[];
  outbox: OutboxRow[];
}
/** Pure. Gives the new snapshot, and the timers and open outbox rows as they shall be from now on. */
export type Migration = (old: Migratable) => Migratable;

export const machineId = (definition: MachineDefinition): string => `${definition.name}@${definition.version}`;
