// The attempts' directories: brief, key, spool, report. In memory, with gates where a driver touches them; envelopes are signed
// with the real signature.

import type { AttemptFiles } from '../../src/jobs/workshop.ts';
import type { Ways } from '../../src/kernel/context.ts';
import type { Envelope, OutsideRequest, Registry } from '../../src/kernel/ports.ts';
import type { Bus } from '../../src/signals/bus/types.ts';
import { requestOf } from '../../src/signals/envelope.ts';
import { signatureOf } from '../../src/signals/signature.ts';
import type { Broker } from './broker.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { addressOf, type WorldOptions } from './world.ts';

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
  /** The row's phase when it was in the inbox or a spool at last; null while only the agent has it. */
  phase: string | null;
}

/** What an agent has said by the bus and not seen confirmed. */
interface Unconfirmed {
  sent: Sent;
  directory: Directory;
  /** Simulated ms. */
  againAt: number;
  until: number;
}

/** As `emit` does it: how often it says the same again, and when it gives up. */
const AGAIN_MS = 3_000;
const BUS_ONLY_MS = 30_000;

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
  private unconfirmed: Unconfirmed[] = [];

  constructor(
    private readonly options: Pick<WorldOptions, 'way' | 'busOnly'>,
    private readonly scheduler: Scheduler,
    private readonly registry: Registry,
    private readonly broker: Broker,
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
  waysFor(life: Life, registry: Registry, bus: Bus | null): Ways {
    const { scheduler } = this;
    return {
      open: async (row, onNews) => {
        await scheduler.pass(life, 'open ways');
        const watchers = (this.watched.get(row.id) ?? []).filter((watcher) => watcher.life !== life);
        this.watched.set(row.id, [...watchers, { life, onNews }]);
        bus?.follow(row.id, onNews);
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
        bus?.unfollow(job);
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
    const way = this.options.busOnly ? 'bus' : this.options.way;
    const sent: Sent = { envelope, phase: way === 'bus' ? null : (row?.phase ?? null) };
    const isHonest = !forgery && row?.attempt === envelope.attempt;
    if (isHonest) this.sent.push(sent);
    if (way === 'inbox') return this.deliver(requestOf(envelope), job);
    if (way === 'spool') return this.spool(directory, envelope);
    this.broker.publish(envelope);
    const { now } = this.scheduler;
    const until = now + (this.options.busOnly ? BUS_ONLY_MS : AGAIN_MS);
    if (isHonest) this.unconfirmed.push({ sent, directory, againAt: now + AGAIN_MS, until });
  }

  /** One step of every `emit` that waits for its receipt: the same envelope again, and the spool as the last resort. */
  async step(): Promise<void> {
    const { now } = this.scheduler;
    const waiting: Unconfirmed[] = [];
    for (const one of this.unconfirmed) {
      const { envelope } = one.sent;
      const phaseOf = async () => (await this.registry.load(envelope.job))?.phase ?? null;
      if (await this.registry.inboxRow(envelope.id)) {
        one.sent.phase = await phaseOf();
      } else if (now >= one.until) {
        one.sent.phase = await phaseOf();
        this.spool(one.directory, envelope);
      } else {
        if (now >= one.againAt) {
          this.broker.publish(envelope);
          one.againAt = now + AGAIN_MS;
        }
        waiting.push(one);
      }
    }
    this.unconfirmed = waiting;
  }

  private spool(directory: Directory, envelope: Envelope): void {
    directory.spool.push(envelope);
    this.tellWatchers(directory.job);
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
