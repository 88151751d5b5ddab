// A host's look at all open rows: takes what nobody drives, tells what has become of its own.
import { statusOf } from '../../../machines/job/vocabulary.ts';
import type { Engine } from '../../jobs/engine.ts';
import { specOf } from '../../jobs/spec.ts';
import type { OpenRow } from '../../kernel/ports.ts';
import { exitOf, isEnded } from '../status.ts';
import { plain } from '../text.ts';
import type { Report } from './report.ts';

export interface Rounds {
  /** One round; gives how many rows of the registry are open. Throws what the registry throws; the next round makes it good. */
  look(): Promise<number>;
  /** Ids of this host's rows whose end it has not told. */
  unfinished(): string[];
}

export function createRounds({ registry, driver }: Pick<Engine, 'registry' | 'driver'>, report: Report): Rounds {
  /** Rows of this host; true once the end was told, while the cleanup goes on. */
  const mine = new Map<string, boolean>();

  async function tellAdopted(job: string): Promise<void> {
    mine.set(job, false);
    const row = await registry.load(job);
    if (!row) return;
    const { attempt, state } = row;
    const message = `${isEnded(row) ? 'cleans up after it' : `attempt ${attempt}, ${state}`}: ${plain(specOf(row).title)}`;
    // Its end was told by whoever drove it then.
    mine.set(job, isEnded(row));
    report.tell({ what: 'adopted', job, message, data: { attempt, state } });
  }

  async function tellFate(job: string, open: OpenRow | undefined): Promise<void> {
    const wasTold = mine.get(job);
    const row = await registry.load(job);
    if (row && isEnded(row) && !wasTold) {
      const { attempt, outcome } = row;
      const data = { attempt, status: statusOf(row.phase), reason: outcome?.reason ?? null, exit: exitOf(row) };
      report.tell({ what: 'ended', job, message: `${row.phase} (${data.reason ?? 'unknown'})`, data });
      mine.set(job, true);
    }
    if (!open) mine.delete(job);
    else if (!driver.held().includes(job)) {
      // Lost while this process slept, or let go; if nobody has it, the next round takes it again.
      mine.delete(job);
      report.tell({ what: 'released', job, message: 'this host does not drive it any more' });
    }
  }

  return {
    async look() {
      const open = await registry.openRows();
      const byId = new Map(open.map((row) => [row.id, row]));
      const held = new Set(driver.held());
      for (const [job, told] of [...mine]) {
        const row = byId.get(job);
        if (!row || !held.has(job) || (!told && isEnded(row))) await tellFate(job, row);
      }
      for (const job of await driver.adoptAll(open)) await tellAdopted(job);
      return open.length;
    },
    unfinished: () => [...mine].filter(([, told]) => !told).map(([job]) => job),
  };
}
