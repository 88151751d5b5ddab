// Does the broker really send us the events of a job? Mosquitto confirms a subscription that its ACL forbids, and then delivers
// nothing: without this a job would be begun whose agent nobody hears. So a word of our own goes there and must come back. And may we
// publish receipts? A bus-only agent that gets none believes that nobody has heard it.
import { randomUUID } from 'node:crypto';
import { ANSWER_MS, type Link, type Message, within } from './link.ts';
import { eventsTopic, receiptsTopic } from './topics.ts';
import { BusError } from './types.ts';

/** Attempts begin at 1: no envelope and no receipt is ever on these topics. */
const NO_ATTEMPT = 0;

export interface Probes {
  /** True: it was one. */
  take(message: Message): boolean;
  /**
   * Throws BusError: `denied` where nothing comes back, where we may not even publish there (then nothing is proven), and where we
   * may not publish receipts; `lost`.
   */
  prove(link: Link, job: string): Promise<void>;
}

/** @param hint what to do where nothing comes back */
export function createProbes(prefix: string, hint: string): Probes {
  const waiting = new Map<string, () => void>();
  return {
    take({ topic, payload }) {
      if (!topic.endsWith(`/${NO_ATTEMPT}/events`)) return false;
      waiting.get(payload)?.();
      return true;
    },
    async prove(link, job) {
      const topic = eventsTopic(prefix, job, NO_ATTEMPT);
      const word = JSON.stringify({ probe: randomUUID() });
      const back = new Promise<void>((resolve) => waiting.set(word, resolve));
      try {
        await link.publish(topic, word, false);
        const why = `the broker confirms that it sends us ${topic}, but does not; ${hint}`;
        await within(ANSWER_MS, back, () => new BusError('denied', why));
      } finally {
        waiting.delete(word);
      }
      await link.publish(receiptsTopic(prefix, job, NO_ATTEMPT), word, false);
    },
  };
}
