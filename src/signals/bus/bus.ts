// The bus of one driver: keeps a connection, whoever runs the broker, and carries envelopes in and receipts and states out.
import { systemClock } from '../../kernel/clock.ts';
import type { Registry } from '../../kernel/ports.ts';
import { createAnswers } from './answers.ts';
import { type Connection, externalAddress, openConnection, type TakeLock } from './connection.ts';
import { createFollowed } from './followed.ts';
import { createIngest } from './ingest.ts';
import { CLOSE_MS, within } from './link.ts';
import { createProbes } from './probe.ts';
import { backOff } from './retry.ts';
import { eventsFilter } from './topics.ts';
import { createTroubles } from './troubles.ts';
import { type AgentAddress, type Bus, BusError, type BusSettings, type BusStatus, type Presence } from './types.ts';
import { createWaiters } from './waiters.ts';

export interface BusOptions {
  settings: Exclude<BusSettings, { kind: 'off' }>;
  /** Absolute; where the embedded broker's lock and book are. */
  registryDir: string;
  registry: Pick<Registry, 'deliver' | 'inboxRow' | 'load' | 'note' | 'now' | 'onChange'>;
  takeLock: TakeLock;
  /** Told in sentences for people when trouble begins, changes and is over. */
  warn(message: string): void;
  presence?: Presence;
}

/** Trouble that is over sooner is not worth a line: the embedded broker changes hands so. */
const GRACE_MS = 1000;

/** Begins to connect at once, and goes on until `stop`. Never throws; what is wrong is in `status` and told by `warn`. */
export function createBus(options: BusOptions): Bus {
  const { settings, registry, presence, warn } = options;
  const { prefix } = settings;
  const stopping = new AbortController();
  const waiters = createWaiters();
  const troubles = createTroubles((sentence) => {
    if (!stopping.signal.aborted) warn(sentence);
  });
  const probes = createProbes(
    prefix,
    settings.kind === 'external'
      ? 'correct its access rules for this user'
      : 'the driver that runs it is stuck or busy',
  );
  const followed = createFollowed({
    filterOf: (job) => eventsFilter(prefix, job),
    prove: async (link, job) => {
      // A broker of our own that sleeps would drop the word, and has nobody yet who could be heard.
      if (!connection?.asleep) await probes.prove(link, job);
    },
    changed: waiters.wake,
    troubles,
  });
  const answers = createAnswers({
    registry,
    prefix,
    publish: (topic, payload) => told('receipts', topic, payload, false),
  });
  const ingest = createIngest({
    registry,
    prefix,
    onNews: followed.tellNews,
    onTaken: (envelope, key) => answers.await(envelope, key),
  });
  let connection: Connection | null = null;
  let agent: AgentAddress | null = settings.kind === 'external' ? externalAddress(settings) : null;
  let generation = 0;
  let status: BusStatus = { up: false, why: null };

  async function publish(topic: string, payload: string, retain: boolean): Promise<void> {
    if (connection) return connection.link.publish(topic, payload, retain);
    throw new BusError('lost', status.up ? 'the bus is away' : (status.why ?? 'the bus is not connected yet'));
  }

  /** A publish that nobody waits for: that it is denied must still not be silence. */
  async function told(subject: string, topic: string, payload: string, retain: boolean): Promise<void> {
    try {
      await publish(topic, payload, retain);
      troubles.over(subject, `${subject} can be published again`);
    } catch (error) {
      if (error instanceof BusError && error.code === 'denied') troubles.begin(subject, error.message);
      throw error;
    }
  }

  function say(next: BusStatus): void {
    status = next;
    waiters.wake();
  }

  /** Nothing that a broker retained before now may be relied on. */
  function awake(): void {
    generation++;
    if (presence) told('presence', presence.topic, presence.online, true).catch(() => {});
    waiters.wake();
  }

  const open = () =>
    openConnection({
      ...options,
      ...(presence && { will: { topic: presence.topic, payload: presence.offline } }),
      onMessage: async (message) => {
        if (probes.take(message)) return;
        await ingest.take(message);
        troubles.over('inbox', 'envelopes that come by the bus are taken again');
      },
      onAwake: () => {
        if (connection) awake();
      },
      warn: (error) => troubles.begin('inbox', `an envelope that came by the bus could not be taken: ${String(error)}`),
      signal: stopping.signal,
    });

  /** Until the connection ends; gives why. */
  async function hold(next: Connection): Promise<BusError> {
    connection = next;
    agent = next.agent;
    followed.use(next.link);
    say({ up: true });
    if (!next.asleep) awake();
    const steady = setTimeout(() => troubles.over('connection', 'the bus is back'), GRACE_MS);
    steady.unref();
    const why = await next.link.closed;
    clearTimeout(steady);
    connection = null;
    followed.use(null);
    await next.link.close();
    return why;
  }

  async function run(): Promise<void> {
    const graceMs = settings.kind === 'external' ? 0 : GRACE_MS;
    let failures = 0;
    let trouble = { since: performance.now(), graceMs };
    while (!stopping.signal.aborted) {
      let why: BusError;
      try {
        const next = await open();
        if (stopping.signal.aborted) return await next.link.close();
        const since = performance.now();
        why = await hold(next);
        const stood = performance.now() - since >= GRACE_MS;
        // One that ends as soon as it is made is no better than none.
        failures = stood ? 0 : failures + 1;
        if (stood) trouble = { since: performance.now(), graceMs: GRACE_MS };
      } catch (error) {
        failures++;
        why = error instanceof BusError ? error : new BusError('unreachable', `the bus has failed: ${String(error)}`);
      }
      if (stopping.signal.aborted) return;
      say({ up: false, why: why.message });
      if (failures > 0 && performance.now() - trouble.since >= trouble.graceMs) {
        troubles.begin('connection', `${why.message}; it is tried again and again`);
      }
      await systemClock.sleep(backOff(failures), stopping.signal);
    }
  }

  async function farewell(): Promise<void> {
    const standing = connection;
    if (standing && presence && !standing.asleep) {
      const { topic, offline } = presence;
      await within(CLOSE_MS, standing.link.publish(topic, offline, true), () => new Error('late')).catch(() => {});
    }
    stopping.abort();
    answers.stop();
    ingest.stop();
    followed.use(null);
    await standing?.link.close();
    await running;
    say({ up: false, why: 'the bus was stopped' });
  }

  const running = run();
  let stopped: Promise<void> | null = null;
  return {
    prefix,
    status: () => status,
    changed: waiters.next,
    follow: followed.follow,
    unfollow: followed.unfollow,
    hears: followed.hears,
    agentAddress: () => agent,
    generation: () => generation,
    publish: (topic, payload, { retain = false } = {}) => publish(topic, payload, retain),
    stop() {
      stopped ??= farewell();
      return stopped;
    },
  };
}
