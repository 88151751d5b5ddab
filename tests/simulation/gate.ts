// Puts gates around what the kernel calls. The production code runs unchanged behind them: before and after every write, before
// every read, the scheduler decides whether and when its process goes on.
import type { Change, Clock, Read, Registry } from '../../src/kernel/ports.ts';
import { RegistryError } from '../../src/registry/errors.ts';
import type { Life, Scheduler } from './scheduler.ts';

export const DISK_FULL = 'the simulated disk is full';

export interface Watcher {
  committed(life: Life, read: Read, change: Change): Promise<void>;
  claimed(life: Life, job: string, epoch: number): void;
  /** Something was written: other processes may hear of it. */
  changed(): void;
  listen(life: Life, listener: () => void): () => void;
}

const WRITES = [
  'insert',
  'note',
  'mintKey',
  'renew',
  'release',
  'deliver',
  'acquireSession',
  'releaseSession',
  'quarantineSession',
];

type Method = (...values: unknown[]) => Promise<unknown>;

/** The registry as one process sees it. */
export function gatedRegistry(real: Registry, scheduler: Scheduler, life: Life, watcher: Watcher): Registry {
  const between = async <Result>(label: string, act: () => Promise<Result>): Promise<Result> => {
    await scheduler.pass(life, `${label}:before`);
    if (scheduler.now < (life.diskFullUntil ?? 0)) throw new RegistryError('full', DISK_FULL);
    const result = await act();
    await scheduler.pass(life, `${label}:after`);
    return result;
  };
  const own: Partial<Registry> = {
    now: () => real.now(),
    onChange: (listener) => watcher.listen(life, listener),
    close: async () => {},
    commit: (read, change) =>
      between(`commit ${nameOf(change)}`, async () => {
        const done = await real.commit(read, change);
        if (done) await watcher.committed(life, read, change);
        if (done) watcher.changed();
        return done;
      }),
    claim: (job, ...terms) =>
      between('claim', async () => {
        const epoch = await real.claim(job, ...terms);
        if (epoch !== null) watcher.claimed(life, job, epoch);
        watcher.changed();
        return epoch;
      }),
  };
  return new Proxy(real, {
    get(target, property: keyof Registry) {
      const method = target[property] as unknown as Method;
      if (own[property]) return own[property];
      if (WRITES.includes(property)) {
        return (...values: unknown[]) =>
          between(property, async () => {
            const result = await method.apply(target, values);
            watcher.changed();
            return result;
          });
      }
      return async (...values: unknown[]) => {
        await scheduler.pass(life, `read ${property}`);
        return method.apply(target, values);
      };
    },
  });
}

/** What a commit is called in plans: the log's word, with the step's name. */
export const nameOf = ({ log, step }: Change): string => (step ? `${log.what} ${step.step}` : log.what);

export const gatedClock = (scheduler: Scheduler, life: Life): Clock => ({
  now: () => scheduler.now,
  sleep: (ms, signal) => scheduler.sleep(life, ms, signal),
});
