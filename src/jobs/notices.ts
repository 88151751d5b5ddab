// Tells the bus how the jobs stand: one retained `state` per job, level-triggered from the row. The log is its outbox: an entry is
// written in the transaction of the decision, and whatever this process has not been confirmed is told again, by it or by the next
// driver that connects. So a crash between commit and publish, or a broker that forgot, costs only time.
import { systemClock } from '../kernel/clock.ts';
import type { Registry, Row } from '../kernel/ports.ts';
import { messageOf } from '../kernel/trouble.ts';
import { stateTopic } from '../signals/bus/topics.ts';
import type { Bus } from '../signals/bus/types.ts';
import { iso, stateObject } from './status.ts';

/** Behind every hint. */
const POLL_MS = 1_000;
/** A burst of decisions is told once. */
const SETTLE_MS = 20;
/** What a broker that forgot is told again: older ends interest nobody who asks the bus. */
const RECENT_MS = 24 * 3_600_000;
const RECENT_ROWS = 200;

export interface Notices {
  /** Tells what is untold, for at most so long, ms; then stops. Idempotent. */
  stop(limitMs: number): Promise<void>;
}

interface Needs {
  registry: Pick<Registry, 'changedSince' | 'load' | 'timers' | 'list' | 'peek' | 'now' | 'onChange'>;
  bus: Bus;
  /** This process drives the row. Rows that others drive are told by them. */
  isMine(job: string): boolean;
  warn(message: string): void;
}

export function startNotices({ registry, bus, isMine, warn }: Needs): Notices {
  const stopping = new AbortController();
  const untold = new Set<string>();
  let cursor: number | null = null;
  let generation = 0;
  let trouble: string | null = null;

  /** What has changed since the last look; everything recent where the broker may have forgotten. */
  async function collect(): Promise<void> {
    const { seq, jobs } = await registry.changedSince(cursor ?? Number.MAX_SAFE_INTEGER);
    cursor = seq;
    for (const job of jobs) untold.add(job);
    if (bus.generation() === generation) return;
    generation = bus.generation();
    const since = registry.now() - RECENT_MS;
    for (const { id, updatedAt } of await registry.list({ limit: RECENT_ROWS })) if (updatedAt > since) untold.add(id);
  }

  async function tell(): Promise<void> {
    await collect();
    // A connection to come begins with everything recent; until then there is nobody to keep it for.
    if (!bus.status().up || generation === 0) return untold.clear();
    for (const job of untold) {
      // Told by its driver, if that has a bus; looked at again until it is gone, since its leaving writes no entry.
      if (!isMine(job) && (await registry.peek(job))?.driven) continue;
      const row = await registry.load(job);
      if (row) await publish(row);
      untold.delete(job);
    }
  }

  async function publish(row: Row): Promise<void> {
    const state = { v: 1, ...stateObject(row, await registry.timers(row.id)), at: iso(registry.now()) };
    await bus.publish(stateTopic(bus.prefix, row.id), JSON.stringify(state), { retain: true });
  }

  async function turn(): Promise<void> {
    try {
      await tell();
      trouble = null;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== trouble && !stopping.signal.aborted) warn(`the bus was not told how jobs stand: ${reason}`);
      trouble = reason;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = new AbortController();
      const unsubscribe = registry.onChange(() => woken.abort());
      const stop = AbortSignal.any([woken.signal, stopping.signal]);
      await turn();
      await Promise.race([bus.changed(stop), systemClock.sleep(POLL_MS, stop)]);
      unsubscribe();
      woken.abort();
      await systemClock.sleep(SETTLE_MS, stopping.signal);
    }
  }

  const running = run();
  let stopped: Promise<void> | null = null;
  return {
    stop(limitMs) {
      stopped ??= (async () => {
        stopping.abort();
        const over = new AbortController();
        const late = systemClock.sleep(limitMs, over.signal);
        await Promise.race([running.then(turn), late]);
        over.abort();
      })();
      return stopped;
    },
  };
}
