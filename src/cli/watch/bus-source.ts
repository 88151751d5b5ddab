// News from a broker alone: where no registry is within reach. What the bus does not carry (titles, logs) is not shown.
import type { StateObject } from '../../jobs/status.ts';
import type { BusSettings } from '../../signals/bus/types.ts';
import { BusError } from '../../signals/bus/types.ts';
import { watcherAddress, watchTopics } from '../../signals/bus/watch.ts';
import type { Seen, Source } from './source.ts';

const POLL_MS = 1_000;

/**
 * Connects before it returns. @param jobs whole ids; null: every job that the broker knows.
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
  let wake = () => {};
  let trouble: string | null = null;
  let failed: unknown = null;
  const topics = (jobs ?? ['+']).map((job) => `jobs/${job}/state`);
  const connected = new Promise<void>((resolve, reject) => {
    const watching = watchTopics(
      address,
      settings.prefix,
      topics,
      ({ payload }) => {
        const state = stateIn(payload);
        if (!state) return;
        states.set(state.id, state);
        wake();
      },
      stop.signal,
      (status) => {
        trouble = status.up ? null : status.why;
        resolve();
        wake();
      },
    );
    watching.catch((error: unknown) => {
      failed = error;
      reject(error);
      wake();
    });
  });
  await connected;
  return {
    label: () => trouble ?? `${address.url} ${settings.prefix}`,
    now: () => Date.now(),
    async read() {
      if (failed) throw failed;
      return [...states.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map(seen);
    },
    next: (signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, POLL_MS);
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          wake = () => {};
          resolve();
        }
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
        wake = done;
      }),
    async close() {
      stop.abort();
    },
  };
}

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
    return read.v === 1 && texts && numbers && exit ? (read as StateObject) : null;
  } catch {
    return null;
  }
}
