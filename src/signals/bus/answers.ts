// Waits for the decisions of envelopes that came by the bus, and sends each sender its receipt.
import type { Answer, Envelope, Registry } from '../../kernel/ports.ts';
import { makeReceipt } from './receipts.ts';
import { receiptsTopic } from './topics.ts';

interface Needs {
  registry: Pick<Registry, 'inboxRow' | 'onChange' | 'now'>;
  prefix: string;
  /** May throw: the sender then repeats its envelope. */
  publish(topic: string, payload: string): Promise<void>;
}

export interface Answers {
  /** One receipt, when it is decided, or after ANSWER_WAIT_MS without a decision. */
  await(envelope: Envelope, key: string): void;
  stop(): void;
}

/** As `emit` waits for a live driver at the inbox (docs/design.md section 6), ms. */
const ANSWER_WAIT_MS = 2000;

interface Waiting {
  envelope: Envelope;
  key: string;
  timer: NodeJS.Timeout;
}

export function createAnswers({ registry, prefix, publish }: Needs): Answers {
  const waiting = new Map<string, Waiting>();
  let unlisten: (() => void) | null = null;

  async function look(id: string): Promise<void> {
    // Trouble with the registry: the next change, or the time limit, looks again.
    const answer = await registry.inboxRow(id).then(
      (row) => row?.answer ?? null,
      () => null,
    );
    if (answer) settle(id, answer);
  }

  function settle(id: string, answer: Answer | null): void {
    const one = waiting.get(id);
    if (!one) return;
    clearTimeout(one.timer);
    waiting.delete(id);
    if (waiting.size === 0) silence();
    const { envelope, key } = one;
    const receipt = makeReceipt(envelope, answer, registry.now(), key);
    publish(receiptsTopic(prefix, envelope.job, envelope.attempt), JSON.stringify(receipt)).catch(() => {});
  }

  function silence(): void {
    unlisten?.();
    unlisten = null;
  }

  return {
    await(envelope, key) {
      const { id } = envelope;
      if (!waiting.has(id)) {
        waiting.set(id, { envelope, key, timer: setTimeout(() => settle(id, null), ANSWER_WAIT_MS) });
        unlisten ??= registry.onChange(() => {
          for (const one of waiting.keys()) void look(one);
        });
      }
      void look(id);
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
      silence();
    },
  };
}
