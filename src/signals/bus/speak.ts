// Hands one envelope over by the bus: publishes it and waits for the driver's signed receipt, which alone says that it was heard.
// Loaded by `emit` only where no other way is left: with it comes mqtt.js.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Envelope } from '../../kernel/ports.ts';
import { reasonOf } from '../files.ts';
import type { AttemptPaths } from '../paths.ts';
import { readBusAddress } from './address.ts';
import { connectLink } from './client.ts';
import { readReceipt } from './receipts.ts';
import { eventsTopic, receiptsTopic } from './topics.ts';
import { BusError, type BusErrorCode } from './types.ts';

/** Data, no errors of ours: `emit` has this file apart, with classes of its own. */
export type Spoken = { heard: true; answer: Answer | null } | { heard: false; why: string };

export interface Speech {
  envelope: Envelope;
  key: string;
  paths: Pick<AttemptPaths, 'bus'>;
  /** There is no other way: the same envelope again every RECEIPT_MS, until then (performance.now()). Absent: one try. */
  until?: number;
  /** Asked between tries: somebody has taken it otherwise, and it is said no more. */
  taken?: () => Promise<boolean>;
}

/** How long a try waits for the receipt, ms. The driver sends one after 2 s even if nothing was decided. */
const RECEIPT_MS = 3000;
/** Between tries to connect, ms. */
const PAUSE_MS = 300;

/** What does not become better by trying again. */
const HOPELESS: readonly BusErrorCode[] = ['login', 'denied', 'protocol', 'certificate'];

const never = async () => false;

/** Never throws. */
export async function speak(speech: Speech): Promise<Spoken> {
  const { until = 0, taken = never } = speech;
  for (;;) {
    const { spoken, hopeless } = await once(speech, until);
    const left = until - performance.now();
    if (spoken.heard || hopeless || left <= 0 || (await taken())) return spoken;
    await sleep(Math.min(PAUSE_MS, left));
  }
}

/** One connection, with as many publishes as there is time for. */
async function once(
  { envelope, key, paths, taken = never }: Speech,
  until: number,
): Promise<{ spoken: Spoken; hopeless: boolean }> {
  const no = (why: string, hopeless = false) => ({ spoken: { heard: false, why } as Spoken, hopeless });
  const address = await readBusAddress(paths);
  if (!address) return no(`nobody has told this attempt where the bus is (${paths.bus})`);
  const { job, attempt } = envelope;
  const { prefix, protocol } = address;
  let hear: (answer: Answer | null) => void = () => {};
  const heard = new Promise<{ answer: Answer | null }>((resolve) => {
    hear = (answer) => resolve({ answer });
  });
  const onMessage = async ({ payload }: { payload: string }) => {
    const receipt = readReceipt(payload, envelope, key);
    if (receipt) hear(receipt.answer);
  };
  let link: Awaited<ReturnType<typeof connectLink>> | null = null;
  try {
    link = await connectLink({ address, protocol, onMessage });
    await link.subscribe(receiptsTopic(prefix, job, attempt));
    const lost = link.closed.then((error) => Promise.reject(error));
    lost.catch(() => {});
    do {
      await link.publish(eventsTopic(prefix, job, attempt), JSON.stringify(envelope), false);
      const over = new AbortController();
      const late = sleep(RECEIPT_MS, null, { signal: over.signal }).catch(() => null);
      const receipt = await Promise.race([heard, lost, late]).finally(() => over.abort());
      if (receipt) return { spoken: { heard: true, answer: receipt.answer }, hopeless: false };
    } while (performance.now() < until && !(await taken()));
    return no(`the broker took it, but no receipt of the driver came within ${RECEIPT_MS / 1000} s`);
  } catch (error) {
    return no(reasonOf(error), error instanceof BusError && HOPELESS.includes(error.code));
  } finally {
    await link?.close();
  }
}
