// What the kernel needs from the world, as types only: the registry and the clock. The rows and requests they speak of come
// along, so that a registry implementation imports this file and nothing else of src/.
import type { Outcome, Phase } from '../../machines/job/vocabulary.ts';
import type { Answer, Envelope, OutsideRequest, RequestSource, VerdictKind } from './requests.ts';
import type {
  DriverRecord,
  InboxRow,
  Json,
  LeaseRow,
  LogRow,
  NewRow,
  OutboxRow,
  PersistedSnapshot,
  Row,
  SessionRow,
  StepResult,
  StepRow,
  TimerRow,
  Way,
} from './rows.ts';

export type * from './requests.ts';
export type * from './rows.ts';

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

/** The few columns that `stepward emit` judges by, without the snapshot and without the key. */
export interface PeekedRow {
  id: string;
  machine: string;
  attempt: number;
  version: number;
  phase: Phase;
  state: string;
  outcome: Outcome | null;
  /** Somebody's lease on the row is alive: a request may be decided within moments. */
  driven: boolean;
}

export interface RowFilter {
  /** Only rows that are not finished, or whose cleanup is open. */
  open?: boolean;
  session?: string;
  /** The newest so many; listed in the order of their making. */
  limit?: number;
}

/** A row that is not finished, or whose cleanup is open, as somebody sees it who looks for rows without a driver. */
export interface OpenRow {
  id: string;
  machine: string;
  phase: Phase;
  /** Who claimed it last and has not released it; alive only while `expiresAt` is not reached. */
  driver: DriverRecord | null;
  /** Registry time, ms; 0: never claimed. */
  expiresAt: number;
}

/**
 * The store of rows, log, inbox, outbox, timers and leases; the only truth. Asynchronous, because one of them is far away.
 * Every method is one transaction. A full disk or a lost connection throws RegistryError; then nothing was written.
 */
export interface Registry {
  /** Registry time, ms. All `at`, `fireAt` and `expiresAt` are of this clock. */
  now(): number;

  /** With `born` the row is that driver's from the first moment, as if claimed: a host that adopts whatever nobody drives cannot
   *  be quicker. */
  insert(row: NewRow, change: Change, born?: { driver: DriverRecord; ttlMs: number }): Promise<Row>;
  load(id: string): Promise<Row | undefined>;
  peek(id: string): Promise<PeekedRow | undefined>;
  /** Ids that begin with `prefix`, at most `limit`, in the order of their making. */
  idsWithPrefix(prefix: string, limit: number): Promise<string[]>;
  newestId(): Promise<string | undefined>;
  list(filter?: RowFilter): Promise<Row[]>;
  /** Oldest first. Cheap, a read of small columns: a host asks it at every change. */
  openRows(): Promise<OpenRow[]>;

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
  /** Jobs with log entries after `seq`, and the newest sequence number; a cursor for whoever tells others of changes. */
  changedSince(seq: number): Promise<{ seq: number; jobs: string[] }>;
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
