// What the kernel needs from the world, as types only: the rows of the registry, the requests that move them, the clock.
// Words: docs/design.md section 2. A registry implementation imports this file and nothing else of src/.
import type { JobEvent } from '../../machines/job/events.ts';
import type { End, Outcome, Phase } from '../../machines/job/vocabulary.ts';

/** A value that survives JSON.stringify and back. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// --- rows ------------------------------------------------------------------------------------------------------------------

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
  /** When a faulted row is closed. Registry time, ms. */
  faultDeadline: number;
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
  faultDeadline: number;
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

// --- requests and answers ----------------------------------------------------------------------------------------------------

/** One signed event of one attempt. Signed over everything but `sig`. */
export interface Envelope {
  v: 1;
  id: string;
  job: string;
  attempt: number;
  seq: number;
  /** {type, detail?, manifest?}; the sequence number joins it on the way into the machine. */
  event: { type: string; detail?: string; manifest?: string };
  /** The agent's clock, ISO 8601; advisory only. */
  at: string;
  sig: string;
}

export type OutsideRequest =
  | { from: 'agent'; id: string; envelope: Envelope }
  | { from: 'person'; id: string; event: { type: string; detail?: string }; by: string }
  | { from: 'person'; id: string; event: { type: 'redispatch'; attempt: number; detail?: string }; by: string };

/** What an effect reports at its end. */
export type EffectResult =
  | { type: `xstate.done.actor.${string}`; output: unknown }
  | { type: `xstate.error.actor.${string}`; error: { message: string; code?: string } };

export type Request =
  | OutsideRequest
  | { from: 'clock'; timer: TimerRow }
  | { from: 'effect'; outboxId: number; event: EffectResult | JobEvent };

export type RequestSource = Request['from'];

/** What admit says; `take` becomes a commit. */
export type VerdictKind = 'take' | 'begin' | 'idempotent' | 'conflict' | 'refused';
export type RefusalReason =
  | 'unknown_job'
  | 'other_attempt'
  | 'bad_signature'
  | 'malformed'
  | 'not_now'
  | 'stale_result'
  | 'stale_timer'
  | 'cleanup_open'
  | 'faulted';

/** What the one who asked is told, now and at every repetition. */
export interface Answer {
  verdict: VerdictKind;
  /** The row's version after the commit, or the one that was judged. */
  version: number;
  reason: RefusalReason | null;
  phase: Phase;
}

// --- the registry --------------------------------------------------------------------------------------------------------------

/** What of a row a decision was made on; a commit that finds anything else does nothing and answers false. */
export interface Read {
  id: string;
  version: number;
  epoch: number;
}

export interface NextState {
  snapshot: PersistedSnapshot;
  phase: Phase;
  state: string;
  outcome: Outcome | null;
}

/** In the order XState gave them: a re-entered state disarms its timer before it arms it anew. */
export type EffectWrite =
  | { kind: 'invoke'; invokeId: string; src: string; input: Json }
  | { kind: 'cleanup'; input: Json }
  | { kind: 'stop'; invokeId: string }
  | { kind: 'arm'; timer: { id: string; delay: string; event: { type: string }; silence: boolean }; afterMs: number }
  | { kind: 'disarm'; timerId: string };

/** What a request settles when its decision is committed. */
export interface Cause {
  outboxId?: number;
  timer?: { id: string; armedVersion: number };
  inbox?: { id: string; answer: Answer };
}

export interface LogEntry {
  from: RequestSource | 'kernel';
  what: string;
  verdict: VerdictKind;
  reason?: string | null;
  data?: Json;
  driver?: string | null;
}

/** One decision, written in one transaction or not at all. */
export interface Change {
  /** Absent: nothing of the row moves but, with `step` or `cleanupDone`, its version. Refusals have neither. */
  next?: NextState;
  /** A new attempt begins: open outbox rows and timers of the old one go, the key too; `cleanup` becomes `none`. */
  beginAttempt?: number;
  /** A migration: the row's machine from now on. Timers and open outbox rows are replaced by `effects`. */
  migrateTo?: string;
  effects?: EffectWrite[];
  cause?: Cause;
  /** UNIQUE (job, attempt, step): if it exists, the whole change is refused. */
  step?: { step: string; driver: string; limitAt: number };
  /** The result of a step that was marked under this row's present attempt. */
  stepResult?: { step: string; result: StepResult };
  cleanupDone?: boolean;
  faults?: { count: number; reason: string | null };
  log: LogEntry;
  /** Synced to the disk before it is answered (terminal transitions, dispatch, step marks). */
  durable?: boolean;
}

export interface RowFilter {
  /** Only rows that are not finished, or whose cleanup is open. */
  open?: boolean;
  session?: string;
  limit?: number;
}

/**
 * The store of rows, log, inbox, outbox, timers and leases; the only truth. Asynchronous, because one of them is far away.
 * Every method is one transaction. A full disk or a lost connection throws RegistryError; then nothing was written.
 */
export interface Registry {
  /** Registry time, ms. All `at`, `fireAt` and `expiresAt` are of this clock. */
  now(): number;

  insert(row: NewRow, change: Change): Promise<Row>;
  load(id: string): Promise<Row | undefined>;
  /** Ids that begin with `prefix`, at most `limit`, in the order of their making. */
  idsWithPrefix(prefix: string, limit: number): Promise<string[]>;
  newestId(): Promise<string | undefined>;
  list(filter?: RowFilter): Promise<Row[]>;

  /** Compare-and-set. False: the row is no longer what was read (or the step exists); load and decide again. */
  commit(read: Read, change: Change): Promise<boolean>;
  /** Adds a log entry without touching the row, whatever its version: evidence, such as a result that came too late. */
  note(job: string, entry: LogEntry): Promise<void>;
  /** Sets the attempt's key if it has none, and gives the one that stands. Null: epoch or attempt are over. */
  mintKey(read: { id: string; epoch: number; attempt: number }, key: string): Promise<string | null>;

  /** Claims the row when nobody holds it, its lease is over, or `isProvenDead(holder)`. Raises the epoch and gives it; null
   *  if somebody else holds it. Shifts silence timers by the time nobody watched, if that was over `gapMs`, and logs it. */
  claim(
    job: string,
    driver: DriverRecord,
    ttlMs: number,
    gapMs: number,
    isProvenDead: (holder: DriverRecord) => boolean,
  ): Promise<number | null>;
  /** Renews all of a driver's leases in one transaction; gives the jobs that are no longer its own. Shifts like claim. */
  renew(driver: string, leases: { job: string; epoch: number }[], ttlMs: number, gapMs: number): Promise<string[]>;
  release(job: string, epoch: number): Promise<void>;
  lease(job: string): Promise<LeaseRow | undefined>;

  /** UNIQUE id: gives the row that stands, with its answer if it has one already. A job that does not exist: refused
   *  `unknown_job`, logged under that id, and answered at once. */
  deliver(request: OutsideRequest, job: string, way: Way): Promise<InboxRow>;
  inboxRow(id: string): Promise<InboxRow | undefined>;
  /** Undecided requests of a job, oldest first (sequence numbers do not order across ways; arrival does). */
  undecided(job: string): Promise<InboxRow[]>;
  /** Which of all jobs have undecided requests. Cheap: called at every change. */
  jobsWithUndecided(): Promise<string[]>;

  openWork(job: string): Promise<OutboxRow[]>;
  timers(job: string): Promise<TimerRow[]>;
  step(job: string, attempt: number, step: string): Promise<StepRow | undefined>;
  steps(job: string, attempt: number): Promise<StepRow[]>;

  /** Gives the session to the job if nobody holds it and the job is the oldest of those that are queued for it and have a live
   *  lease (a dead driver's row must not block the others). True also if this job and attempt hold it already. */
  acquireSession(read: { id: string; epoch: number; attempt: number }): Promise<boolean>;
  sessionRow(session: string): Promise<SessionRow | undefined>;
  sessions(): Promise<SessionRow[]>;
  /** The two below do nothing unless job, attempt and epoch still hold. */
  releaseSession(read: { id: string; epoch: number; attempt: number }): Promise<void>;
  quarantineSession(read: { id: string; epoch: number; attempt: number }, reason: string): Promise<void>;

  log(filter: { job?: string; afterSeq?: number; limit?: number }): Promise<LogRow[]>;
  /** Calls back soon after anything was committed by any process; a hint, never the truth. Gives the way to stop. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

// --- clock and the rest --------------------------------------------------------------------------------------------------------

export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Resolves after `ms` of this clock, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Checks who signed an envelope. Given to the kernel, which must not know how. */
export type Verify = (envelope: Envelope, key: string) => boolean;

/** The outcome record of an attempt: the same shape for success and failure (docs/design.md section 5). */
export interface Ended {
  status: End;
  reason: Outcome['reason'];
  detail: string | null;
  settled: boolean | null;
}
