// News from a broker alone: where no registry is within reach. What the bus does not carry (titles, logs) is not shown.
import type { StateObject } from '../../jobs/status.ts';
import { systemClock } from '../../kernel/clock.ts';
import { parseTopic } from '../../signals/bus/topics.ts';
import type { BusSettings } from '../../signals/bus/types.ts';
import { BusError } from '../../signals/bus/types.ts';
import { createWaiters } from '../../signals/bus/waiters.ts';
import { watcherAddress, watchTopics } from '../../signals/bus/watch.ts';
import type { Seen, Source } from './source.ts';

const POLL_MS = 1_000;
const KEPT_MS = 200;

/**
 * Connects before it returns.
 * @param jobs ids, prefixes or @last, of what the broker knows by then; null: every job.
 * @throws BusError; `unreachable` also where the embedded broker has never run.
 */
export async function busSource(
  settings: Exclude<BusSettings, { kind: 'off' }>,
  registryDir: string,
  jobs: readonly string[] | null,
): Promise<Source> {
  const address = await watcherAddress(settings, registryDir);
  if (!address) {
    throw new BusError(
      'unreachable',
      `the embedded broker has never run in ${registryDir}; it runs while jobs are driven`,
    );
  }
  const states = new Map<string, StateObject>();
  const stop = new AbortController();
  const waiters = createWaiters();
  let trouble: string | null = null;
  let failed: unknown = null;
  const connected = new Promise<void>((resolve, reject) => {
    const watching = watchTopics(
      address,
      settings.prefix,
      ['jobs/+/state'],
      ({ topic, payload }) => {
        const state = stateIn(payload);
        const named = parseTopic(settings.prefix, topic);
        if (!state || named?.kind !== 'state' || named.job !== state.id) return;
        // A redispatch raises the version, too: it only grows within a job.
        if ((states.get(state.id)?.version ?? -1) > state.version) return;
        states.set(state.id, state);
        waiters.wake();
      },
      stop.signal,
      (status) => {
        trouble = status.up ? null : status.why;
        resolve();
        waiters.wake();
      },
    );
    watching.catch((error: unknown) => {
      failed = error;
      reject(error);
      waiters.wake();
    });
  });
  try {
    await connected;
  } catch (error) {
    const isNobody = settings.kind === 'embedded' && error instanceof BusError && error.code === 'unreachable';
    if (!isNobody) throw error;
    const why = `nobody drives a job of ${registryDir} now, so its embedded broker does not run`;
    throw new BusError('unreachable', `${why}; without --bus you see the registry itself, and stepward host runs one`);
  }
  // What the broker has kept comes one by one.
  await systemClock.sleep(KEPT_MS);
  let last: string | null = null;
  return {
    label: () => trouble ?? `${address.url} ${settings.prefix}`,
    now: () => Date.now(),
    async read() {
      if (failed) throw failed;
      const all = [...states.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      // The newest of what was there at first, as with the registry: not whichever comes later.
      last ??= all.at(-1)?.id ?? null;
      return all.filter(({ id }) => isChosen(id, jobs, last)).map(seen);
    },
    async next(signal) {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      await Promise.race([waiters.next(either), systemClock.sleep(POLL_MS, either)]);
      over.abort();
    },
    async close() {
      stop.abort();
    },
  };
}

/** Ids are sorted by time, so the greatest one is the newest. */
const isChosen = (id: string, jobs: readonly string[] | null, last: string | null): boolean =>
  jobs === null || jobs.some((job) => (job === '@last' ? id === last : id.startsWith(job)));

const seen = (state: StateObject): Seen => ({
  state,
  agent: null,
  title: null,
  driven: null,
  object: state,
  happened: [],
});

/** Null: not one of ours; anybody who may publish there can write anything. */
function stateIn(payload: string): StateObject | null {
  try {
    const read = JSON.parse(payload) as Partial<StateObject> & { v?: unknown };
    const texts = [read.id, read.status, read.state, read.since].every((text) => typeof text === 'string');
    const numbers = [read.attempt, read.version].every((number) => typeof number === 'number');
    const exit = read.exit === null || typeof read.exit === 'number';
    const reason = read.reason === null || typeof read.reason === 'string';
    const dates = [read.since, read.until ?? read.since].every((at) => !Number.isNaN(Date.parse(String(at))));
    return read.v === 1 && texts && numbers && exit && reason && dates ? (read as StateObject) : null;
  } catch {
    return null;
  }
}
