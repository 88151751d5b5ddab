// The rows of the registry, as types. Words: docs/design.md section 2.
import type { Outcome, Phase } from '../../machines/job/vocabulary.ts';
import type { Answer, OutsideRequest, RequestSource, VerdictKind } from './requests.ts';

/** A value that survives JSON.stringify and back. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface PersistedSnapshot {
  status: string;
  value: unknown;
  context: Record<string, unknown>;
  children: Record<string, unknown>;
  [key: string]: unknown;
}

/** One job. `spec` is what the caller asked for (agent, brief, working directory, …); the kernel never looks into it. */
export interface Row {
  id: string;
  /** `job@1`: the machine and its version. */
  machine: string;
  /** Rises with every commit; half of the compare-and-set. */
  version: number;
  /** Rises with every claim of the row's lease; fences the former driver. */
  epoch: number;
  attempt: number;
  /** `transport:target`; at most one job holds the session of that name. */
  session: string;
  spec: Json;
  snapshot: PersistedSnapshot;
  /** Projections of the snapshot, written in the same transaction. */
  phase: Phase;
  /** Dotted path of the deepest interesting state, for people: `injected.working`. */
  state: string;
  outcome: Outcome | null;
  /** This attempt's signing key; minted in preflight, kept until redispatch so that a repeated `completed` can be told from a
   *  forged one. Never printed. */
  key: string | null;
  cleanup: 'none' | 'open' | 'done';
  /** How often in a row a decision about this row threw; from FAULT_LIMIT on the row is faulted. */
  faults: number;
  faultReason: string | null;
  createdAt: number;
  updatedAt: number;
  /** When `state` was entered. */
  since: number;
}

export interface NewRow {
  id: string;
  machine: string;
  session: string;
  spec: Json;
}

/** The mark of a once effect: UNIQUE (job, attempt, step). Started and without a result = never repeated, only inspected. */
export interface StepRow {
  job: string;
  attempt: number;
  step: string;
  /** The driver that started it. */
  driver: string;
  epoch: number;
  startedAt: number;
  /** Until then the driver that started it may still be about to act, even if its lease is over. */
  limitAt: number;
  result: StepResult | null;
}
/** `withheld`: the driver that marked it knows that it did not act. */
export type StepResult = 'done' | 'withheld';

export interface OutboxRow {
  id: number;
  job: string;
  attempt: number;
  /** `invoke`: an effect that the machine waits for. `cleanup`: what must be undone after the end. */
  kind: 'invoke' | 'cleanup';
  /** Invoke id in the machine; for cleanup the word `cleanup`. */
  invokeId: string;
  src: string;
  input: Json;
  open: boolean;
}

export interface TimerRow {
  job: string;
  /** XState's id, `<delay>.<state id>`-like; unique per job. */
  id: string;
  /** Name of the delay: `deadline`, `idleTimeout`, … */
  delay: string;
  armedVersion: number;
  /** Absolute, registry time, ms. */
  fireAt: number;
  event: { type: string };
  /** Measures silence: time in which no driver watched is taken out of it. */
  silence: boolean;
}

/** How a request reached the registry. */
export type Way = 'inbox' | 'bus' | 'spool';

export interface InboxRow {
  /** Caller-made. A repeated id gets the first answer again, whatever else it says. */
  id: string;
  job: string;
  request: OutsideRequest;
  way: Way;
  receivedAt: number;
  answer: Answer | null;
}

export interface LogRow {
  /** The log's own sequence, over the whole registry. */
  seq: number;
  job: string;
  attempt: number;
  /** The row's version after this entry; refusals keep it. */
  version: number;
  epoch: number;
  at: number;
  from: RequestSource | 'kernel';
  /** What was asked or done: event type, `registered`, `claimed`, … */
  what: string;
  verdict: VerdictKind;
  reason: string | null;
  /** Where the row was after it. */
  phase: Phase;
  state: string;
  outcome: Outcome | null;
  /** Whatever else a reader needs to understand the entry. */
  data: Json;
  driver: string | null;
}

export interface DriverRecord {
  id: string;
  /** Machine, boot and pid namespace: pids of two hosts cannot be compared. */
  host: string;
  pid: number;
  /** The process's start time as the system tells it; a pid alone is reused. */
  started: string;
  build: string;
}

export interface LeaseRow {
  job: string;
  /** Null after a release; the renewal time stays, since it says when somebody last watched. */
  driver: DriverRecord | null;
  epoch: number;
  expiresAt: number;
  renewedAt: number;
}

/** At most one job holds a session. A quarantined session is given to nobody until it is seen clean or gone. */
export interface SessionRow {
  session: string;
  job: string;
  attempt: number;
  quarantine: string | null;
  since: number;
}
