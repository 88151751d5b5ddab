// The attempts' directories: brief, key, spool, report. In memory, with gates where a driver touches them; envelopes are signed
// with the real signature.

import type { AttemptFiles } from '../../src/jobs/workshop.ts';
import type { Ways } from '../../src/kernel/context.ts';
import type { Envelope, OutsideRequest, Registry } from '../../src/kernel/ports.ts';
import { requestOf } from '../../src/signals/envelope.ts';
import { signatureOf } from '../../src/signals/signature.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { addressOf } from './world.ts';

interface Directory {
  job: string;
  attempt: number;
  key: string;
  hasKey: boolean;
  spool: Envelope[];
  report: 'none' | 'valid' | 'bad';
  seq: number;
}

export interface Sent {
  envelope: Envelope;
  /** The row's phase at that moment. */
  phase: string;
}

/** sha256 of the manifest, as a `completed` names it. */
const MANIFEST = 'ab'.repeat(32);

export interface Forgery {
  key?: string;
  attempt?: number;
}

export class Desk {
  /** Every honest envelope that an agent handed over. */
  readonly sent: Sent[] = [];
  private readonly directories = new Map<string, Directory>();
  private readonly watched = new Map<string, { life: Life; onNews: () => void }[]>();
  private envelopes = 0;

  constructor(
    private readonly way: 'inbox' | 'spool',
    private readonly scheduler: Scheduler,
    private readonly registry: Registry,
    private readonly changed: () => void,
  ) {}

  /** The files as the effects of one process see them. */
  filesFor(life: Life): AttemptFiles {
    const { scheduler } = this;
    return {
      prepare: async ({ job, attempt, key }) => {
        await scheduler.pass(life, 'prepare:before');
        const address = addressOf({ job, attempt });
        const known = this.directories.get(address);
        const fresh: Directory = { job, attempt, key, hasKey: true, spool: [], report: 'none', seq: 0 };
        this.directories.set(address, known ? { ...known, key, hasKey: true } : fresh);
        await scheduler.pass(life, 'prepare:after');
        return {} as Awaited<ReturnType<AttemptFiles['prepare']>>;
      },
      removeKey: async (ref) => {
        await scheduler.pass(life, 'remove-key:before');
        const directory = this.directories.get(addressOf(ref));
        if (directory) directory.hasKey = false;
        await scheduler.pass(life, 'remove-key:after');
      },
      verify: async ({ key, ...ref }) => {
        await scheduler.pass(life, 'verify');
        const directory = this.directories.get(addressOf(ref));
        if (directory?.report !== 'valid' || directory.key !== key) return { valid: false, why: 'it does not verify' };
        return { valid: true, sha256: MANIFEST, files: [] };
      },
    };
  }

  /** The spool as one process follows it. `registry` is that process's own, behind its gates. */
  waysFor(life: Life, registry: Registry): Ways {
    const { scheduler } = this;
    return {
      open: async (row, onNews) => {
        await scheduler.pass(life, 'open ways');
        const watchers = (this.watched.get(row.id) ?? []).filter((watcher) => watcher.life !== life);
        this.watched.set(row.id, [...watchers, { life, onNews }]);
      },
      collect: async (row) => {
        const directory = this.directories.get(addressOf({ job: row.id, attempt: row.attempt }));
        if (row.key === null || !directory) return;
        for (const envelope of [...directory.spool]) {
          await registry.deliver(requestOf(envelope), row.id, 'spool');
          await scheduler.pass(life, 'unlink:before');
          directory.spool = directory.spool.filter(({ id }) => id !== envelope.id);
          await scheduler.pass(life, 'unlink:after');
        }
      },
      close: (job) => {
        const watchers = this.watched.get(job) ?? [];
        this.watched.set(
          job,
          watchers.filter((watcher) => watcher.life !== life),
        );
      },
    };
  }

  /** `stepward emit`, as an agent runs it. A forgery is signed with another key or names another attempt. */
  async emit(address: string, type: string, forgery?: Forgery): Promise<void> {
    const directory = this.directories.get(address);
    if (!directory?.hasKey) return;
    const { job } = directory;
    directory.seq += 1;
    this.envelopes += 1;
    const unsigned = {
      v: 1 as const,
      id: `e${this.envelopes}`,
      job,
      attempt: forgery?.attempt ?? directory.attempt,
      seq: directory.seq,
      event: { type, ...(type === 'completed' && { manifest: MANIFEST }) },
      at: new Date(this.scheduler.now).toISOString(),
    };
    const envelope = { ...unsigned, sig: signatureOf(unsigned, forgery?.key ?? directory.key) };
    const row = await this.registry.load(job);
    if (!forgery && row?.attempt === envelope.attempt) this.sent.push({ envelope, phase: row.phase });
    if (this.way === 'spool') {
      directory.spool.push(envelope);
      this.tellWatchers(job);
      return;
    }
    await this.deliver(requestOf(envelope), job);
  }

  /** Also for what a person asks. */
  async deliver(request: OutsideRequest, job: string): Promise<void> {
    await this.registry.deliver(request, job, 'inbox');
    this.changed();
  }

  /** The newest envelope again, by another way: a retried `emit`. */
  async duplicate(address: string): Promise<void> {
    const newest = this.sent.map(({ envelope }) => envelope).findLast((envelope) => addressOf(envelope) === address);
    if (newest) await this.deliver(requestOf(newest), newest.job);
  }

  handIn(address: string, report: 'valid' | 'bad'): void {
    const directory = this.directories.get(address);
    if (directory) directory.report = report;
  }

  reportOf(address: string): 'none' | 'valid' | 'bad' {
    return this.directories.get(address)?.report ?? 'none';
  }

  /** Ids of envelopes that still lie in a spool. */
  spooled(): string[] {
    return [...this.directories.values()].flatMap(({ spool }) => spool.map(({ id }) => id));
  }

  /** Attempts whose key lies in their directory. */
  keys(): string[] {
    return [...this.directories.entries()].filter(([, { hasKey }]) => hasKey).map(([address]) => address);
  }

  /** A watcher of a directory may miss a file; the poll behind it must not. */
  private tellWatchers(job: string): void {
    for (const { life, onNews } of this.watched.get(job) ?? []) {
      if (life.alive && this.scheduler.choose(3) > 0) this.scheduler.later(life, 'spool news', onNews);
    }
  }
}
