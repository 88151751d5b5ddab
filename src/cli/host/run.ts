// `stepward host`: a driver that lives on. It holds the registry's host lock, adopts every row that nobody drives, and lets go of
// all of them when it is asked to end: agents go on, and the next driver takes over.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../../machines/job/exit.ts';
import { type Engine, openEngine } from '../../jobs/engine.ts';
import { systemClock } from '../../kernel/clock.ts';
import { isRegistryTrouble, messageOf } from '../../kernel/trouble.ts';
import { identityOf } from '../../registry/sqlite/directory.ts';
import { REGISTRY_FILE } from '../../registry/sqlite/files.ts';
import type { Lock } from '../../registry/sqlite/lock.ts';
import { watchChanges } from '../changes.ts';
import type { Context } from '../context.ts';
import { formatDuration } from '../durations.ts';
import { failureOf } from '../failure.ts';
import { watchInterrupts } from '../interrupts.ts';
import { bid } from './lock.ts';
import { presenceOf } from './presence.ts';
import { type HostRecord, isNamed, nameOfHost, ownRecord, removeRecord, writeRecord } from './record.ts';
import { createReport, type Report } from './report.ts';
import { createRounds, type Rounds } from './rounds.ts';

/** After trouble with the registry. */
const RETRY_MS = 1_000;
/** How often host.json is read: a round comes with every change of the registry. */
const NAME_EVERY_MS = 1_000;
/** Many commits in a row make one round. */
const PAUSE_MS = 20;
/** Of the 10 s that a stop may take; whatever is still held then is taken over at once, as from any dead driver. */
const LET_GO_MS = 8_000;

export interface HostOptions {
  /** Ends by itself when no row has been open for so long, ms of real time. Null: never. */
  untilIdleMs: number | null;
}

/** The exit code: 0 ended as asked, 1 the registry went away, 4 another host runs. Throws UsageError, RegistryError. */
export async function runHost(ctx: Context, options: HostOptions): Promise<number> {
  const { dir } = await ctx.registryPlace();
  const report = createReport(ctx.out);
  const interrupts = watchInterrupts();
  try {
    const won = await patiently({ report, stop: interrupts.signal }, () => bid(dir));
    if (!won) return EXIT.ok;
    if (!won.lock) {
      const who = won.holder ? nameOfHost(won.holder) : 'a process that does not say who it is';
      const data = won.holder ? { holder: won.holder } : {};
      report.tell({ what: 'refused', message: `a host of ${dir} runs already: ${who}`, data });
      return EXIT.refused;
    }
    const { lock } = won;
    const service = { ctx, dir, report, stop: interrupts.signal, record: ownRecord(), lock };
    try {
      return await serve(service, options);
    } finally {
      leave(service);
    }
  } catch (error) {
    // As a line like all others: whoever reads the log of a service reads JSON.
    const { exit, sentence } = failureOf(error);
    report.tell({ what: 'failed', message: sentence });
    return exit;
  } finally {
    interrupts.close();
  }
}

/** The lock last: whoever gets it then writes a name of its own. */
function leave({ dir, record, report, lock }: Service): void {
  try {
    removeRecord(dir, record);
  } catch (error) {
    report.warn(`host.json cannot be removed: ${messageOf(error)}`);
  }
  lock.release();
}

interface Service {
  ctx: Context;
  dir: string;
  report: Report;
  stop: AbortSignal;
  record: HostRecord;
  lock: Lock;
}

async function serve(service: Service, options: HostOptions): Promise<number> {
  const { dir, report, record } = service;
  tryToName(service);
  const engine = await patiently(service, () => openHostEngine(service));
  if (!engine) return EXIT.ok;
  report.tell({ what: 'started', message: `host of ${dir}, ${nameOfHost(record)}`, data: { pid: record.pid } });
  const rounds = createRounds(engine, report);
  const why = await goRound(service, engine, rounds, options);
  report.tell({ what: 'stopping', message: why.message, data: { drives: engine.driver.held() } });
  await letGo(service, engine, rounds);
  return why.exit;
}

/** Losers of the lock ask for the name. A full disk does not keep a host from its work. */
function tryToName({ dir, record, report }: Service): boolean {
  try {
    writeRecord(dir, record);
    return true;
  } catch (error) {
    report.warn(`host.json cannot be written: ${messageOf(error)}`);
    return false;
  }
}

/** The one place where a host opens its engine. */
async function openHostEngine({ ctx, dir, report, record }: Service): Promise<Engine> {
  const bus = await ctx.busSettings();
  const presence = bus.kind === 'off' ? undefined : presenceOf(bus.prefix, dir, record);
  return openEngine({
    ...ctx.io.world,
    registryDir: dir,
    bus,
    ...(presence && { presence }),
    warn: (message) => report.warn(message),
  });
}

/** Again until it works, where waiting may help. Null: stopped before. Throws what no waiting cures: a damaged registry, a newer one, a
 *  network file system. */
async function patiently<T>(
  { report, stop }: Pick<Service, 'report' | 'stop'>,
  open: () => Promise<T>,
): Promise<T | null> {
  while (!stop.aborted) {
    try {
      return await open();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (!isRegistryTrouble(error) || (code !== 'full' && code !== 'busy')) throw error;
      report.warn(`${messageOf(error)} Trying again.`);
      await rest(RETRY_MS, stop);
    }
  }
  return null;
}

interface Why {
  exit: number;
  message: string;
}

/** Round after round: at every change, at least every second. */
async function goRound(service: Service, engine: Engine, rounds: Rounds, options: HostOptions): Promise<Why> {
  const { dir, report, stop, record, lock } = service;
  const changes = watchChanges(engine.registry);
  const isSame = watchIdentity(join(dir, REGISTRY_FILE));
  const { untilIdleMs } = options;
  let busyAt = performance.now();
  let namedAt = busyAt;
  try {
    while (!stop.aborted) {
      if (!isSame()) return { exit: EXIT.failed, message: `the registry in ${dir} was removed or replaced` };
      // Another host may hold the new one by now; jobs stay whole, since each row has a lease of its own.
      if (!lock.isStill()) return { exit: EXIT.failed, message: `the lock in ${dir} was removed or replaced` };
      if (performance.now() - namedAt >= NAME_EVERY_MS) {
        if (!isNamed(dir, record)) tryToName(service);
        namedAt = performance.now();
      }
      try {
        if ((await rounds.look()) > 0) busyAt = performance.now();
      } catch (error) {
        busyAt = performance.now();
        report.warn(`${messageOf(error)} Trying again.`);
        await rest(RETRY_MS, stop);
        continue;
      }
      if (untilIdleMs !== null && performance.now() - busyAt >= untilIdleMs) {
        return { exit: EXIT.ok, message: `no job has been open for ${formatDuration(untilIdleMs, true)}` };
      }
      await rest(PAUSE_MS, stop);
      await changes.next(stop);
    }
    return { exit: EXIT.ok, message: 'asked to stop; agents go on, the next driver takes over' };
  } finally {
    changes.close();
  }
}

/** A host whose registry was deleted under it would hold the lock of a file that nobody sees, and drive nothing for ever. */
function watchIdentity(file: string): () => boolean {
  const first = identityOf(file);
  return () => {
    try {
      return identityOf(file) === first;
    } catch {
      // Out of reach for the moment says nothing about which file it is.
      return true;
    }
  };
}

async function letGo({ report }: Service, engine: Engine, rounds: Rounds): Promise<void> {
  const unfinished = rounds.unfinished();
  const late = new AbortController();
  const limit = sleep(LET_GO_MS, 'late' as const, { signal: late.signal }).catch(() => 'stopped' as const);
  const first = await Promise.race([engine.stop().then(() => 'stopped' as const), limit]).catch((error: unknown) => {
    report.warn(messageOf(error));
    return 'stopped' as const;
  });
  late.abort();
  if (first === 'late') report.warn('not everything came to rest in time; the next driver takes over what is left');
  for (const job of unfinished) report.tell({ what: 'released', job, message: 'goes on; the next driver takes over' });
}

/** Real time, whatever clock the rules go by: a host must end within 10 s of a person's. */
const rest = systemClock.sleep;
