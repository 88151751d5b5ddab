// Does the broker really send us the events of a job? Mosquitto confirms a subscription that its ACL forbids, and then delivers
// nothing: without this a job would be begun whose agent nobody hears. So a word of our own goes there and must come back.
import { randomUUID } from 'node:crypto';
import { ANSWER_MS, type Link, type Message, within } from './link.ts';
import { eventsTopic } from './topics.ts';
import { BusError } from './types.ts';

/** Attempts begin at 1: no envelope is ever on this topic. */
const NO_ATTEMPT = 0;

export interface Probes {
  /** True: it was one. */
  take(message: Message): boolean;
  /** Throws BusError: `denied` where nothing comes back, `lost`. Where we may not publish there it cannot be known: then the
   *  broker's word stands. */
  prove(link: Link, job: string): Promise<void>;
}

export function createProbes(prefix: string): Probes {
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
        const isKnown = await link.publish(topic, word, false).then(
          () => true,
          (error: unknown) => !(error instanceof BusError && error.code === 'denied') && Promise.reject(error),
        );
        const why = `the broker confirms that it sends us ${topic}, but does not; correct its access rules for this user`;
        if (isKnown) await within(ANSWER_MS, back, () => new BusError('denied', why));
      } finally {
        waiting.delete(word);
      }
    },
  };
}
