// The bus for those who only look: from an address alone, without a registry.

import { systemClock } from '../../kernel/clock.ts';
import { addressIn, readBook } from './book.ts';
import { connectLink } from './client.ts';
import type { Link, Message } from './link.ts';
import { backOff } from './retry.ts';
import { rootOf } from './topics.ts';
import { type AgentAddress, type BrokerAddress, BusError, type BusSettings, type BusStatus } from './types.ts';

/** Where a watcher finds the bus of these settings. Null: the embedded broker has never run in that registry. */
export async function watcherAddress(
  settings: Exclude<BusSettings, { kind: 'off' }>,
  registryDir: string,
): Promise<WatchAddress | null> {
  if (settings.kind === 'external') return settings;
  const book = await readBook(registryDir);
  return book && addressIn(book, 'watcher');
}

/** Without `protocol`: MQTT 5, or 3.1.1 where the broker knows no other. */
export type WatchAddress = BrokerAddress & Partial<Pick<AgentAddress, 'protocol'>>;

/**
 * Tells every message on the topics, retained ones first, after every reconnection again, until the signal aborts.
 * @param topics filters, whole (stateTopic, hostTopic) or from below `<prefix>/v1/` (`jobs/+/state`)
 * @param onStatus told when the connection is lost and when it is back
 * @throws BusError if the first connection does not come about, or a topic is denied; afterwards it tries again for ever.
 */
export async function watchTopics(
  address: WatchAddress,
  prefix: string,
  topics: readonly string[],
  onMessage: (message: Message) => void,
  signal: AbortSignal,
  onStatus: (status: BusStatus) => void = () => {},
): Promise<void> {
  const root = rootOf(prefix);
  const filters = topics.map((topic) => (topic.startsWith(root) ? topic : root + topic));
  let link = await connect();
  for (let failures = 0; !signal.aborted; ) {
    if (link) {
      onStatus({ up: true });
      const why = await link.closed;
      if (signal.aborted) break;
      onStatus({ up: false, why: why.message });
    }
    await systemClock.sleep(backOff(failures), signal);
    link = await connect().catch((error: unknown) => {
      failures++;
      if (!(error instanceof BusError)) throw error;
      onStatus({ up: false, why: error.message });
      return null;
    });
    if (link) failures = 0;
  }
  await link?.close();

  /** Null: aborted. */
  async function connect(): Promise<Link | null> {
    try {
      return await (address.protocol ? open(address.protocol) : openEither());
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  function openEither(): Promise<Link | null> {
    return open(5).catch((error: unknown) => {
      if (error instanceof BusError && error.code === 'protocol') return open(4);
      throw error;
    });
  }

  async function open(protocol: 4 | 5): Promise<Link | null> {
    if (signal.aborted) return null;
    const opened = await connectLink({ address, protocol, signal, onMessage: async (message) => onMessage(message) });
    try {
      for (const filter of filters) await opened.subscribe(filter);
    } catch (error) {
      await opened.close();
      throw error;
    }
    const leave = () => void opened.close();
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    void opened.closed.then(() => signal.removeEventListener('abort', leave));
    return opened;
  }
}
