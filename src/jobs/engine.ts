// Everything a command needs, put together once: the registry, a driver with the job's effects, and what people ask of jobs.
import { randomUUID } from 'node:crypto';
import { isEnd } from '../../machines/job/vocabulary.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Ways as KernelWays } from '../kernel/context.ts';
import { begin } from '../kernel/decide.ts';
import { machineId } from '../kernel/definition.ts';
import { createDriver, type Driver } from '../kernel/driver.ts';
import type { Answer, Clock, DriverRecord, Json, OutsideRequest, Registry, Row } from '../kernel/ports.ts';
import { RegistryError } from '../registry/errors.ts';
import { newId } from '../registry/ids.ts';
import { openSqliteRegistry } from '../registry/sqlite/open.ts';
import { verifyEnvelope } from '../signals/signature.ts';
import { createWays } from '../signals/ways.ts';
import { childEnvironment } from '../transports/environment.ts';
import { createTransports } from '../transports/index.ts';
import { isProvenDead, selfRecord } from '../transports/process.ts';
import { jobDefinition } from './definition.ts';
import { jobEffects } from './effects.ts';
import { agentCommand, BUILD, launcherFile } from './installation.ts';
import { type JobSpec, specOf } from './spec.ts';
import { attemptFiles, placeOf, transportOf, type Workshop } from './workshop.ts';

export interface EngineOptions {
  /** Absolute; made if it does not exist. */
  registryDir: string;
  clock?: Clock;
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
  /** Writes the row, queued. Throws RegistryError. */
  register(spec: JobSpec): Promise<Row>;
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

/** A change hint may be missed; this poll is behind it. */
const POLL_MS = 250;

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const clock = options.clock ?? systemClock;
  const { registryDir } = options;
  const opened = await openSqliteRegistry({ dir: registryDir, clock });
  const registry = options.wrap?.(opened) ?? opened;
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
  };
  const ways = createWays(registry);
  const driver = createDriver({
    registry,
    clock,
    record,
    isProvenDead: shop.isProvenDead,
    definitions: { [jobDefinition.name]: jobDefinition },
    effects: jobEffects(shop),
    ways: rowWays(ways),
    verify: verifyEnvelope,
    warn: options.warn ?? (() => {}),
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

  return {
    registry,
    registryDir,
    clock,
    driver,
    async register(spec) {
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
          return await registry.insert(row, {
            next: first.next,
            effects: first.effects,
            log: { from: 'kernel', what: 'registered', verdict: 'take', driver: record.id },
            durable: true,
          });
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
      return 'stopped';
    },
    async stop() {
      await driver.stop();
      ways.closeAll();
      await registry.close();
    },
  };

  function rowWays({ open, collect, close }: ReturnType<typeof createWays>): KernelWays {
    const at = (row: Row) => ({ job: row.id, attempt: row.attempt, cwd: specOf(row).cwd });
    return {
      open: (row, onNews) => open(at(row), onNews),
      collect: async (row) => {
        if (row.key !== null) await collect(at(row));
      },
      close,
    };
  }
}

/** The children of a foreground command do not outlive its Ctrl-C. The row stays open: `resume` will find out and say so. */
async function stopAgent(shop: Workshop, row: Row, { pid, started }: DriverRecord): Promise<void> {
  const owner = { registry: shop.registryDir, job: row.id, attempt: row.attempt, epoch: row.epoch, pid, started };
  const place = placeOf(shop, row);
  const fence = await transportOf(shop, row).takeMark(place, owner, async () => true);
  if (fence) await transportOf(shop, row).reap(place, fence);
}
