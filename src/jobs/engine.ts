// Everything a command needs, put together once: the registry, a driver with the job's effects, and what people ask of jobs.
import { randomUUID } from 'node:crypto';
import { isEnd } from '../../machines/job/vocabulary.ts';
import { systemClock } from '../kernel/clock.ts';
import { LEASE } from '../kernel/context.ts';
import { begin } from '../kernel/decide.ts';
import { machineId } from '../kernel/definition.ts';
import { createDriver, type Driver } from '../kernel/driver.ts';
import type { Answer, Change, Clock, DriverRecord, Json, OutsideRequest, Registry, Row } from '../kernel/ports.ts';
import { RegistryError } from '../registry/errors.ts';
import { newId } from '../registry/ids.ts';
import { takeLock } from '../registry/sqlite/lock.ts';
import { openSqliteRegistry } from '../registry/sqlite/open.ts';
import { createBus } from '../signals/bus/bus.ts';
import type { Bus, BusSettings, Presence } from '../signals/bus/types.ts';
import { verifyEnvelope } from '../signals/signature.ts';
import { childEnvironment } from '../transports/environment.ts';
import { createTransports } from '../transports/index.ts';
import { isProvenDead, selfRecord } from '../transports/process.ts';
import { jobDefinition } from './definition.ts';
import { jobEffects } from './effects.ts';
import { agentCommand, BUILD, launcherFile } from './installation.ts';
import { type Notices, startNotices } from './notices.ts';
import { createRowWays } from './row-ways.ts';
import type { JobSpec } from './spec.ts';
import { attemptFiles, placeOf, transportOf, type Workshop } from './workshop.ts';

export interface EngineOptions {
  /** Absolute; made if it does not exist. */
  registryDir: string;
  clock?: Clock;
  /** Default: none. */
  bus?: BusSettings;
  /** Told on the bus for as long as this engine lives, and connects at once: a host's. */
  presence?: Presence;
  /** Lets tests put something between the driver and its registry. */
  wrap?: (registry: Registry) => Registry;
  warn?: (message: string) => void;
}

export type PersonAsks =
  | { type: 'cancelled' | 'deadline_timeout'; detail?: string }
  | { type: 'redispatch'; attempt: number; detail?: string };

export interface Engine {
  readonly registry: Registry;
  readonly registryDir: string;
  readonly clock: Clock;
  readonly driver: Driver;
  /** Writes the row, queued. `mine`: it is born with this driver's lease, so that no host takes it before `driver.adopt` does;
   *  without it whoever is first drives it. Throws RegistryError. */
  register(spec: JobSpec, options?: { mine?: boolean }): Promise<Row>;
  /** A request by the inbox, with `expects` only for that attempt. Where no live driver holds the row, this process claims it, decides, cleans up and releases. */
  ask(job: string, event: PersonAsks, expects?: number): Promise<Answer>;
  /** The row once its present attempt has ended; null if the signal aborts first. */
  ended(job: string, signal?: AbortSignal): Promise<Row | null>;
  /** The same, once everything is undone. */
  cleanedUp(job: string, signal?: AbortSignal): Promise<Row | null>;
  /** Ctrl-C (section 5): nothing delivered → cancelled; delivered → the lease is released and headless children are stopped. */
  interrupt(job: string): Promise<'cancelled' | 'released' | 'stopped' | 'ended'>;
  stop(): Promise<void>;
}

/** A broker that does not answer must not keep a finished command; the next driver tells it. */
const LAST_NEWS_MS = 1_000;
/** A change hint may be missed; this poll is behind it. */
const POLL_MS = 250;

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const clock = options.clock ?? systemClock;
  const { registryDir } = options;
  const opened = await openSqliteRegistry({ dir: registryDir, clock });
  const registry = options.wrap?.(opened) ?? opened;
  const warn = options.warn ?? (() => {});
  let connected: { bus: Bus; notices: Notices } | null = null;
  let stopping = false;
  /** Made when it is first wanted: a command that only asks something of a row connects to nothing. */
  function line(): Bus | null {
    const { bus: settings = { kind: 'off' }, presence } = options;
    if (settings.kind === 'off' || stopping) return connected?.bus ?? null;
    if (!connected) {
      const bus = createBus({ settings, registryDir, registry, takeLock, warn, ...(presence && { presence }) });
      const isMine = (job: string) => driver.held().includes(job);
      connected = { bus, notices: startNotices({ registry, bus, isMine, warn }) };
    }
    return connected.bus;
  }
  const record = selfRecord(`${process.pid}-${randomUUID().slice(0, 8)}`, BUILD);
  const shop: Workshop = {
    registry,
    registryDir,
    files: attemptFiles,
    transports: createTransports({ launcher: launcherFile(), marksDir: `${registryDir}/marks`, clock }),
    isProvenDead: (driver) => isProvenDead(driver, record),
    command: agentCommand(),
    childEnv: (extra) => childEnvironment(process.env, extra),
    fences: new Map(),
    get bus() {
      return line();
    },
  };
  const ways = createRowWays(registry, () => shop.bus);
  const driver = createDriver({
    registry,
    clock,
    record,
    isProvenDead: shop.isProvenDead,
    definitions: { [jobDefinition.name]: jobDefinition },
    effects: jobEffects(shop),
    ways,
    verify: verifyEnvelope,
    warn,
  });

  const changed = (signal: AbortSignal | undefined): Promise<void> => {
    const woken = new AbortController();
    const unsubscribe = registry.onChange(() => woken.abort());
    const either = signal ? AbortSignal.any([woken.signal, signal]) : woken.signal;
    return clock.sleep(POLL_MS, either).finally(unsubscribe);
  };

  const rowWhen = async (
    job: string,
    holds: (row: Row) => boolean | Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<Row | null> => {
    while (!signal?.aborted) {
      const next = changed(signal);
      const row = await registry.load(job);
      if (row && (await holds(row))) return row;
      await next;
    }
    return null;
  };

  const ended: Engine['ended'] = (job, signal) => rowWhen(job, (row) => isEnd(row.phase), signal);
  const cleanedUp: Engine['cleanedUp'] = (job, signal) =>
    rowWhen(job, (row) => isEnd(row.phase) && row.cleanup === 'done', signal);

  async function ask(job: string, event: PersonAsks, expects?: number): Promise<Answer> {
    const asked = { from: 'person', id: randomUUID(), event, by: `cli ${process.pid}` } as const;
    const request: OutsideRequest = expects === undefined ? asked : { ...asked, expects };
    let { answer } = await registry.deliver(request, job, 'inbox');
    const drivenHere = driver.held().includes(job);
    while (!answer) {
      const next = changed(undefined);
      answer = (await registry.inboxRow(request.id))?.answer ?? null;
      if (answer) break;
      await driver.adopt(job, { concludes: true });
      await next;
    }
    if (!drivenHere && driver.held().includes(job)) await conclude(job);
    return answer;
  }

  /** We only came to decide: what has ended is tidied up, anything else is left to a driver that was asked to drive it. */
  async function conclude(job: string): Promise<void> {
    const row = await registry.load(job);
    if (row && (row.phase === 'finalizing' || isEnd(row.phase))) {
      // A quarantine may last until a person comes: it is left to `resume`.
      await rowWhen(job, async (now) => now.cleanup === 'done' || !driver.held().includes(job) || isQuarantined(now));
    }
    await driver.release(job);
  }

  const isQuarantined = async (row: Row): Promise<boolean> => {
    const session = await registry.sessionRow(row.session);
    return session?.job === row.id && session.quarantine !== null;
  };

  if (options.presence) line();
  return {
    registry,
    registryDir,
    clock,
    driver,
    async register(spec, { mine = false } = {}) {
      const first = begin(jobDefinition, jobDefinition.inputOf(spec as unknown as Json));
      for (;;) {
        const id = newId(registry.now());
        const row = {
          id,
          machine: machineId(jobDefinition),
          session: `${spec.transport}:${spec.target || id}`,
          spec: { ...spec, target: spec.target || id } as unknown as Json,
        };
        try {
          const change: Change = {
            next: first.next,
            effects: first.effects,
            log: { from: 'kernel', what: 'registered', verdict: 'take', driver: record.id },
            durable: true,
          };
          return await registry.insert(row, change, mine ? { driver: record, ttlMs: LEASE.ttlMs } : undefined);
        } catch (error) {
          // Ids are short: two processes may draw the same one.
          if (!(error instanceof RegistryError && error.code === 'duplicate_id')) throw error;
        }
      }
    },
    ask,
    ended,
    cleanedUp,
    async interrupt(job) {
      const row = await registry.load(job);
      if (!row || isEnd(row.phase)) return 'ended';
      if (row.snapshot.context.deliveryStarted !== true) {
        await ask(job, { type: 'cancelled', detail: 'interrupted' });
        await cleanedUp(job);
        return 'cancelled';
      }
      await driver.release(job);
      if (!transportOf(shop, row).capabilities.ownsAgent) return 'released';
      await stopAgent(shop, row, record);
      const detail = 'its agent was stopped by whoever interrupted its driver';
      await registry.note(job, {
        from: 'person',
        what: 'interrupted',
        verdict: 'take',
        data: { detail },
        driver: record.id,
      });
      return 'stopped';
    },
    async stop() {
      stopping = true;
      await driver.stop();
      ways.closeAll();
      // The last news of this process: how its jobs have ended.
      await connected?.notices.stop(LAST_NEWS_MS);
      await connected?.bus.stop();
      await registry.close();
    },
  };
}

/** The children of a foreground command do not outlive its Ctrl-C. The row stays open: `resume` will find out and say so. */
async function stopAgent(shop: Workshop, row: Row, { pid, started }: DriverRecord): Promise<void> {
  const owner = { registry: shop.registryDir, job: row.id, attempt: row.attempt, epoch: row.epoch, pid, started };
  const place = placeOf(shop, row);
  const fence = await transportOf(shop, row).takeMark(place, owner, async () => true);
  if (fence) await transportOf(shop, row).reap(place, fence);
}
