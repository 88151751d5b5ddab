// The ways in of a row, for the kernel: the spool always, the bus where the agent may use it. Neither is waited for here; whoever
// needs the bus confirmed waits for it in an effect (channel.ts).
import type { Ways as KernelWays } from '../kernel/context.ts';
import type { Registry, Row } from '../kernel/ports.ts';
import { writeBusAddress } from '../signals/attempt.ts';
import type { Bus } from '../signals/bus/types.ts';
import { type AttemptRef, attemptPaths } from '../signals/paths.ts';
import { createWays } from '../signals/ways.ts';
import { specOf } from './spec.ts';

export interface RowWays extends KernelWays {
  closeAll(): void;
}

/** @param bus null: none is configured. Called when the first row is driven, so that a command that only asks connects to nothing. */
export function createRowWays(registry: Registry, bus: () => Bus | null): RowWays {
  const spool = createWays(registry);
  const followed = new Map<string, Bus>();
  /** What stands in a job's bus.json, as far as this process knows. */
  const addresses = new Map<string, string>();

  /** A successor of the embedded broker may have another port: an agent that speaks later must find it. */
  async function tellAddress(ref: AttemptRef, line: Bus): Promise<void> {
    const address = line.agentAddress();
    if (!address) return;
    const text = JSON.stringify([ref.attempt, address]);
    if (addresses.get(ref.job) === text) return;
    await writeBusAddress(attemptPaths(ref), address);
    addresses.set(ref.job, text);
  }

  function close(job: string): void {
    spool.close(job);
    followed.get(job)?.unfollow(job);
    followed.delete(job);
    addresses.delete(job);
  }

  return {
    async open(row, onNews) {
      const ref = refOf(row);
      await spool.open(ref, onNews);
      const line = bus();
      if (!line || !specOf(row).ways.includes('bus')) return;
      line.follow(row.id, onNews);
      followed.set(row.id, line);
      await tellAddress(ref, line);
    },
    async collect(row) {
      if (row.key !== null) await spool.collect(refOf(row));
    },
    close,
    closeAll() {
      for (const job of [...followed.keys()]) close(job);
      spool.closeAll();
    },
  };
}

const refOf = (row: Row): AttemptRef => ({ job: row.id, attempt: row.attempt, cwd: specOf(row).cwd });
