// A driver: claims rows, drains what came in, fires timers, makes what runs equal to what the outbox says.
import { isEnd } from '../../machines/job/vocabulary.ts';
import { type Context, type DriverPorts, type Held, LEASE, machineOf } from './context.ts';
import { drain } from './drain.ts';
import { isFaulted, loadHeld } from './handle.ts';
import { makeHeld, noteRenewed } from './held.ts';
import type { DriverRecord, OpenRow, Row } from './ports.ts';
import { abortTasks, reconcile } from './tasks.ts';
import { fireDue } from './timers.ts';
import { messageOf } from './trouble.ts';
import { upgrade } from './upgrade.ts';
import { openWays } from './ways.ts';

/** The poll behind every hint: a spool, a timer or an inbox row is never noticed later than this. */
const POLL_MS = 1_000;
/** After a registry that could not be reached. */
const RETRY_MS = 1_000;

export interface Adoption {
  /** Only bring the row to its end: no effect before finalizing is started. For `cancel`, `close` and `redispatch`. */
  concludes?: boolean;
}

export interface Driver {
  readonly record: DriverRecord;
  /** Claims the row and drives it. False: somebody else does, or this build does not know its machine. */
  adopt(job: string, options?: Adoption): Promise<boolean>;
  /**
   * Adopts every open row that no live driver holds, finished rows with open cleanup too; gives their ids. A row that cannot be
   * claimed does not keep the others: it is tried again by the next call, and told by `warn`.
   * @param open what `registry.openRows()` has just given, if the caller has it already.
   */
  adoptAll(open?: readonly OpenRow[]): Promise<string[]>;
  held(): string[];
  /** Stops driving one row and releases its lease. Its effects are aborted; what they have started goes on. */
  release(job: string): Promise<void>;
  /** Idempotent. Releases everything. */
  stop(): Promise<void>;
}

export function createDriver(ports: DriverPorts): Driver {
  const { registry, clock, record } = ports;
  const held = new Map<string, Held>();
  const stopping = new AbortController();
  const context: Context = {
    ...ports,
    held,
    async adoptFinished(job) {
      const row = await registry.load(job);
      if (row && isEnd(row.phase) && row.cleanup === 'open') await adopt(job, { concludes: true });
    },
  };
  const unsubscribe = registry.onChange(() => void pokeUndecided());
  const renewing = renewLeases();
  let stopped: Promise<void> | null = null;

  async function pokeUndecided(): Promise<void> {
    try {
      for (const job of await registry.jobsWithUndecided()) held.get(job)?.poke.poke();
    } catch (error) {
      // Only a hint: the poll behind it will see the same.
      if (!stopping.signal.aborted) ports.warn(String(error));
    }
  }

  /** Two calls at once must not make two loops over one row. */
  const adopting = new Map<string, Promise<boolean>>();
  async function adopt(job: string, options: Adoption = {}): Promise<boolean> {
    // Each waits for all before it: two that had waited for the same one would both claim, and the second claim of a driver
    // gets the first one's epoch.
    while (adopting.has(job)) await adopting.get(job)?.catch(() => false);
    const adoption = adoptNow(job, options).finally(() => adopting.delete(job));
    adopting.set(job, adoption);
    return adoption;
  }

  /** Without a write: a claim of a row whose driver lives would be a transaction that changes nothing. */
  function driverless(open: readonly OpenRow[]): OpenRow[] {
    const now = registry.now();
    const dead = new Map<string, boolean>();
    const isDead = (driver: DriverRecord): boolean => {
      // Asked of the system once for each driver, however many rows it holds.
      const known = dead.get(driver.id) ?? ports.isProvenDead(driver);
      dead.set(driver.id, known);
      return known;
    };
    return open.filter(({ id, machine, driver, expiresAt }) => {
      if (held.has(id) || !machineOf(ports, { machine })) return false;
      return driver === null || expiresAt <= now || isDead(driver);
    });
  }

  async function adoptNow(job: string, { concludes = false }: Adoption): Promise<boolean> {
    if (stopping.signal.aborted) return false;
    const known = held.get(job);
    if (known) {
      known.concludes &&= concludes;
      known.poke.poke();
      return true;
    }
    const row = await registry.load(job);
    // Rows of an unknown machine version are left to the build that knows them.
    if (!row || !machineOf(ports, row)) return false;
    const epoch = await registry.claim(job, record, LEASE.ttlMs, LEASE.gapMs, ports.isProvenDead);
    if (epoch === null) return false;
    const mine = makeHeld({ job, epoch, concludes, now: registry.now() }, clock);
    held.set(job, mine);
    mine.working = drive(mine);
    return true;
  }

  /** A faulted row gets its three tries again from every driver that takes it over: it may be of a build that can continue it. */
  async function forgiveFaults(mine: Held): Promise<void> {
    const row = await loadHeld(context, mine);
    if (!row || !isFaulted(row)) return;
    const log = { from: 'kernel', what: 'fault forgiven', verdict: 'take', driver: record.id } as const;
    await registry.commit(row, { faults: { count: 0, reason: row.faultReason }, log });
    mine.cached = null;
  }

  async function drive(mine: Held): Promise<void> {
    let isNew = true;
    while (!mine.stop.signal.aborted) {
      let next: number | null = null;
      try {
        if (isNew) await forgiveFaults(mine);
        isNew = false;
        const row = await loadHeld(context, mine);
        if (!row) break;
        if (await upgrade(context, mine)) next = await advance(mine, row);
        if (isDone(await loadHeld(context, mine)) && mine.tasks.size === 0) break;
      } catch (error) {
        // A full disk, a registry out of reach: nothing was written, nothing is lost; try again until the lease is over.
        ports.warn(`job ${mine.job}: ${messageOf(error)}`);
        mine.cached = null;
        next = registry.now() + RETRY_MS;
      }
      const untilTimer = next === null ? POLL_MS : Math.max(0, next - registry.now());
      await mine.poke.wait(Math.min(POLL_MS, untilTimer), mine.stop.signal);
    }
    await leave(mine);
  }

  /** One turn: what came in, what is due, what must run. Gives the time of the next timer. */
  async function advance(mine: Held, row: Row): Promise<number | null> {
    if (hasWays(row)) await openWays(context, mine, row);
    await drain(context, mine);
    const next = await fireDue(context, mine, () => drain(context, mine));
    await reconcile(context, mine);
    return next;
  }

  async function leave(mine: Held): Promise<void> {
    mine.stop.abort();
    abortTasks(mine);
    await Promise.allSettled([...mine.tasks.values()].map((task) => task.done));
    ports.ways.close(mine.job);
    held.delete(mine.job);
    await registry.release(mine.job, mine.epoch).catch((error: unknown) => ports.warn(String(error)));
  }

  async function renewLeases(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(LEASE.renewMs, stopping.signal);
      const rows = [...held.values()];
      if (stopping.signal.aborted || rows.length === 0) continue;
      try {
        const leases = rows.map(({ job, epoch }) => ({ job, epoch }));
        const lost = await registry.renew(record.id, leases, LEASE.ttlMs, LEASE.gapMs);
        for (const mine of rows) {
          if (lost.includes(mine.job)) drop(mine);
          else noteRenewed(mine, registry.now());
        }
      } catch (error) {
        ports.warn(`renewing leases: ${messageOf(error)}`);
      }
    }
  }

  /** A lost lease must stop the work at once: whatever was begun here is no longer ours to continue. */
  function drop(mine: Held): void {
    ports.warn(`job ${mine.job}: another driver has taken over`);
    mine.stop.abort();
    abortTasks(mine);
    mine.poke.poke();
  }

  async function release(job: string): Promise<void> {
    const mine = held.get(job);
    if (!mine) return;
    mine.stop.abort();
    mine.poke.poke();
    await mine.working;
  }

  return {
    record,
    adopt,
    async adoptAll(open) {
      const adopted: string[] = [];
      for (const row of driverless(open ?? (await registry.openRows()))) {
        try {
          if (await adopt(row.id)) adopted.push(row.id);
        } catch (error) {
          ports.warn(`job ${row.id} cannot be taken over: ${messageOf(error)}`);
        }
      }
      return adopted;
    },
    held: () => [...held.keys()],
    release,
    stop() {
      stopped ??= (async () => {
        stopping.abort();
        unsubscribe();
        // What is being claimed right now is let go again too.
        await Promise.allSettled([...adopting.values()]);
        await Promise.allSettled([...held.keys()].map(release));
        await renewing;
      })();
      return stopped;
    },
  };
}

/** From `subscribed` on an envelope may lie in a way; before, there is no directory yet. */
const hasWays = (row: Row): boolean => row.key !== null;

const isDone = (row: Row | null): boolean => row !== null && isEnd(row.phase) && row.cleanup === 'done';
