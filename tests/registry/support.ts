// What the registry's rules are tested with: a driven clock, and rows and changes with as little in them as a rule needs.
import type {
  Change,
  Clock,
  DriverRecord,
  EffectWrite,
  LogEntry,
  NextState,
  OutsideRequest,
  Registry,
  Row,
} from '../../src/kernel/ports.ts';

export interface DrivenClock extends Clock {
  advance(ms: number): void;
}

export function drivenClock(start = 1_800_000_000_000): DrivenClock {
  let now = start;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
    sleep: async () => {
      throw new Error('a registry must not sleep on the registry clock');
    },
  };
}

/** One fresh store. */
export interface Store {
  registry: Registry;
  clock: DrivenClock;
  /** A second connection to the same store, on the same clock. */
  open(): Promise<Registry>;
  /** Closes every connection and removes the store. */
  dispose(): Promise<void>;
}
export type MakeStore = () => Promise<Store>;

export const TTL_MS = 15_000;
export const GAP_MS = 60_000;
/** For expect.poll, whose own default of one second is too short for a busy machine. */
export const PATIENTLY = { timeout: 30_000 };
export const never = () => false;

export const nextState = (over: Partial<NextState> = {}): NextState => ({
  snapshot: { status: 'active', value: 'queued', context: { note: 'ä \u2028 "quoted"' }, children: {} },
  phase: 'pending',
  state: 'queued',
  outcome: null,
  ...over,
});

export const ended = (): NextState =>
  nextState({ phase: 'failed', state: 'failed', outcome: { status: 'failed', reason: 'idle_timeout' } });

export const entry = (over: Partial<LogEntry> = {}): LogEntry => ({
  from: 'effect',
  what: 'moved',
  verdict: 'take',
  ...over,
});

export const move = (over: Partial<Change> = {}): Change => ({ next: nextState(), log: entry(), ...over });

export const refusal = (over: Partial<Change> = {}): Change => ({
  log: entry({ from: 'person', what: 'cancelled', verdict: 'refused', reason: 'not_now' }),
  ...over,
});

export const arm = (id: string, afterMs: number, silence = false): EffectWrite => ({
  kind: 'arm',
  timer: { id, delay: id, event: { type: `xstate.after.${id}.job` }, silence },
  afterMs,
});

export const invoke = (invokeId: string): EffectWrite => ({
  kind: 'invoke',
  invokeId,
  src: `${invokeId}Src`,
  input: { of: invokeId },
});

export const insert = (
  registry: Registry,
  id: string,
  over: Partial<Change> = {},
  session = `human:${id}`,
): Promise<Row> =>
  registry.insert(
    { id, machine: 'job@1', session, spec: { task: `do ${id}` } },
    { next: nextState(), log: entry({ from: 'kernel', what: 'registered' }), ...over },
  );

export const load = async (registry: Registry, id: string): Promise<Row> => {
  const row = await registry.load(id);
  if (!row) throw new Error(`no row ${id}`);
  return row;
};

export const driver = (id: string): DriverRecord => ({
  id,
  host: 'here',
  pid: 7,
  started: `${id} began`,
  build: 'test',
});

export const claim = async (registry: Registry, job: string, by = 'd1'): Promise<number> => {
  const epoch = await registry.claim(job, driver(by), TTL_MS, GAP_MS, never);
  if (epoch === null) throw new Error(`${by} could not claim ${job}`);
  return epoch;
};

export const cancel = (id: string): OutsideRequest => ({
  from: 'person',
  id,
  event: { type: 'cancelled' },
  by: 'someone',
});

export const envelope = (id: string, job: string, type = 'progress'): OutsideRequest => ({
  from: 'agent',
  id,
  envelope: { v: 1, id, job, attempt: 1, seq: 1, event: { type }, at: '2027-01-15T08:00:00.000Z', sig: 'x' },
});
