// What the parts of one driver share.
import type { JobEvent } from '../../machines/job/events.ts';
import type { MachineDefinition } from './definition.ts';
import type { OnceStep, StepInspection, StepOutcome } from './once.ts';
import type { Poke } from './poke.ts';
import type { Clock, DriverRecord, Json, OutboxRow, Registry, Row, SessionRow, Verify } from './ports.ts';

/** Section 4, "Who commits" and "Time". */
export const LEASE = Object.freeze({ ttlMs: 15_000, renewMs: 5_000, gapMs: 60_000 });

/** The ways in of one attempt that do not end in the registry by themselves (spool, later the bus). */
export interface Ways {
  /** Idempotent. Throws if a way cannot be opened. */
  open(row: Row, onNews: () => void): Promise<void>;
  /** Copies everything that lies there into the inbox. */
  collect(row: Row): Promise<void>;
  close(job: string): void;
}

/** What an effect may use. Made for one outbox row and one epoch. */
export interface EffectEnv {
  readonly job: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly input: Json;
  readonly driver: DriverRecord;
  readonly clock: Clock;
  /** Aborted: the outbox row is closed, the epoch is lost or the driver stops. Begin nothing new and end soon. */
  readonly signal: AbortSignal;
  /** Aborts as soon as the driver wants a look: a silence timer is due and may not be applied on old news. */
  lookWanted(): AbortSignal;
  /** Called right before a look; what it gives is called once the row knows what was seen. A driver can sleep between the two:
   *  only when the look began says what it proves. */
  looking(): () => void;
  row(): Promise<Row>;
  sleep(ms: number): Promise<void>;
  report(event: JobEvent): Promise<void>;
  once(step: OnceStep): Promise<StepOutcome>;
  inspect(step: string): Promise<StepInspection>;
  started(step: string): Promise<boolean>;
  mintKey(key: string): Promise<string | null>;
  openWays(): Promise<void>;
  /** Copies what lies in the ways into the inbox and decides everything that is undecided. */
  drain(): Promise<void>;
  acquireSession(): Promise<boolean>;
  sessionRow(): Promise<SessionRow | undefined>;
  releaseSession(): Promise<void>;
  quarantineSession(reason: string): Promise<void>;
  /** Takes over another row whose driver is gone, if it is finished and its cleanup is open. */
  adoptFinished(job: string): Promise<void>;
  /** Evidence for the log that decides nothing. */
  note(what: string, data: Json): Promise<void>;
}

/** An effect's code. What it returns becomes the output of the invoke, what it throws its error; for `cleanup`, true means
 *  that everything is undone. */
export type EffectBody = (env: EffectEnv) => Promise<unknown>;

export interface DriverPorts {
  registry: Registry;
  clock: Clock;
  record: DriverRecord;
  isProvenDead(driver: DriverRecord): boolean;
  /** By name: the machine's versions this build knows. */
  definitions: Readonly<Record<string, MachineDefinition>>;
  effects: Readonly<Record<string, EffectBody>>;
  ways: Ways;
  verify: Verify;
  /** Background errors that belong to no request: shown, never thrown into the void. */
  warn(message: string): void;
}

export interface Task {
  work: OutboxRow;
  epoch: number;
  controller: AbortController;
  done: Promise<void>;
}

/** A row this driver believes it holds. It may be wrong: every commit proves it again. */
export interface Held {
  job: string;
  epoch: number;
  /** Only brings a row to its end: starts no effect before finalizing. */
  concludes: boolean;
  renewedAt: number;
  /** Since when this driver has driven the row without a break: its claim, or its waking up. Registry time, ms. */
  unbrokenSince: number;
  poke: Poke;
  tasks: Map<number, Task>;
  /** The row as this driver last committed or read it; every commit compares it with the registry. */
  cached: Row | null;
  /** Last look at the session, registry time. */
  lookedAt: number;
  look: AbortController;
  /** Since when a look is waited for, registry time, and for a timer of which `fireAt`. */
  lookAsked: { for: number; at: number } | null;
  /** Serialises decisions about this row inside this process, so that they do not lose against each other. */
  turn: Promise<unknown>;
  /** Serialises drains in the same way. */
  draining: Promise<unknown>;
  working: Promise<void>;
  stop: AbortController;
  /** What is wrong with the ways in, as it was last told. */
  waysTrouble: string | null;
}

export interface Context extends DriverPorts {
  held: Map<string, Held>;
  adoptFinished(job: string): Promise<void>;
}

export const machineOf = (ports: DriverPorts, row: Pick<Row, 'machine'>): MachineDefinition | undefined => {
  const [name = '', version] = row.machine.split('@');
  const definition = ports.definitions[name];
  return definition && Number(version) <= definition.version ? definition : undefined;
};
