// What the bus is tested with: buses of our own registry, a voice that speaks on topics as any client can, and ears.
import { onTestFinished } from 'vitest';
import type { Envelope } from '../../../src/kernel/ports.ts';
import { takeLock } from '../../../src/registry/sqlite/lock.ts';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { type BusOptions, createBus } from '../../../src/signals/bus/bus.ts';
import { connectLink } from '../../../src/signals/bus/client.ts';
import type { Link, Message } from '../../../src/signals/bus/link.ts';
import type { Receipt } from '../../../src/signals/bus/receipts.ts';
import { eventsTopic, receiptsTopic } from '../../../src/signals/bus/topics.ts';
import type { AgentAddress, Bus } from '../../../src/signals/bus/types.ts';
import { makeEnvelope } from '../../../src/signals/envelope.ts';
import { JOB, until, type World } from '../world.ts';

export const PREFIX = 'test/of-stepward';
export const EMBEDDED = Object.freeze({ kind: 'embedded', prefix: PREFIX } as const);

export type TestedBus = Bus & { warnings: string[] };

export function openBus(world: Pick<World, 'registry' | 'registryDir'>, options: Partial<BusOptions> = {}): TestedBus {
  const warnings: string[] = [];
  const { registry, registryDir } = world;
  const warn = (sentence: string) => void warnings.push(sentence);
  const bus = createBus({ settings: EMBEDDED, registry, registryDir, takeLock, warn, ...options });
  onTestFinished(() => bus.stop());
  return Object.assign(bus, { warnings });
}

/** Waits on `changed`, as its users do: a change that is not told hangs the test. */
export async function untilBus(bus: Bus, holds: () => boolean): Promise<void> {
  while (!holds()) await bus.changed(new AbortController().signal);
}

export const up = (bus: Bus): Promise<void> => untilBus(bus, () => bus.status().up);

export async function hearing(bus: Bus, job = JOB): Promise<void> {
  bus.follow(job, () => {});
  await untilBus(bus, () => bus.hears(job));
}

/** Everything below the prefix: what only a driver may on the embedded broker. */
export async function driverAddress({ registryDir }: Pick<World, 'registryDir'>): Promise<AgentAddress> {
  return addressIn(await until(() => readBook(registryDir)), 'driver');
}

export interface Voice {
  link: Link;
  heard: Message[];
  /** On the topic that the envelope names, or another one. */
  say(envelope: Envelope, options?: { topic?: string; retain?: boolean }): Promise<void>;
  /** All receipts of an envelope so far, believed or not. */
  receipts(envelope: Envelope): Receipt[];
}

export async function voice(address: AgentAddress, ...filters: string[]): Promise<Voice> {
  const heard: Message[] = [];
  const { protocol, prefix } = address;
  const link = await connectLink({ address, protocol, onMessage: async (message) => void heard.push(message) });
  onTestFinished(() => link.close());
  for (const filter of filters) await link.subscribe(filter);
  return {
    link,
    heard,
    say: (envelope, { topic = eventsTopic(prefix, envelope.job, envelope.attempt), retain = false } = {}) =>
      link.publish(topic, JSON.stringify(envelope), retain),
    receipts: ({ id, job, attempt }) =>
      heard
        .filter(({ topic }) => topic === receiptsTopic(prefix, job, attempt))
        .map(({ payload }) => JSON.parse(payload) as Receipt)
        .filter((receipt) => receipt.id === id),
  };
}

let seq = 0;
export async function sign(world: World, event: Envelope['event'] = { type: 'progress' }): Promise<Envelope> {
  const row = await world.row();
  return makeEnvelope({ job: JOB, attempt: row.attempt, seq: ++seq, event, now: 0 }, row.key ?? '');
}

export const logOf = async (world: World, what: string) =>
  (await world.registry.log({ job: JOB })).filter((entry) => entry.what === what);
