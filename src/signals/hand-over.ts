// Hands an envelope over by the first way that works: the inbox, where a live driver answers within milliseconds, else the bus,
// else the spool.
import { existsSync } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Envelope, Registry } from '../kernel/ports.ts';
import type { Speech } from './bus/speak.ts';
import { requestOf } from './envelope.ts';
import { codeOf, reasonOf } from './files.ts';
import type { Located } from './locate.ts';
import { spoolFile, writeSpool } from './spool.ts';

export type HandedOver =
  | { way: 'inbox'; answer: Answer }
  /** It is in the inbox and stays there; `driven`: somebody holds the row and will decide it. */
  | { way: 'inbox'; answer: null; driven: boolean }
  /** The driver's signed receipt came. Null: it is in the inbox and kept, and nobody has decided it yet. */
  | { way: 'bus'; answer: Answer | null }
  | { way: 'spool' }
  /** The spool is no way of this attempt: it lies there in case the driver can read it all the same. */
  | { way: 'spool'; file: string; unconfirmed: string };

/** No way took the envelope. */
export class NoWayError extends Error {
  override name = 'NoWayError';
}

type Inbox = Pick<Registry, 'deliver' | 'inboxRow' | 'peek'>;

/** How long `emit` waits for a live driver's answer (docs/design.md section 6), ms. */
export const ANSWER_MS = 2000;
/** How long an agent that has only the bus goes on trying, ms. */
const INSIST_MS = 30_000;
/** So long it is looked for at every millisecond. */
const EAGER_MS = 40;
const SLOWEST_POLL_MS = 20;

/**
 * Tries the ways that the attempt uses, in their order. Throws NoWayError.
 * @param registry or why it could not even be opened
 * @param key signs the envelope, so it signs the receipt
 */
export async function handOver(
  registry: Inbox | { unreachable: string },
  envelope: Envelope,
  { ways, paths }: Pick<Located, 'ways' | 'paths'>,
  key: string,
): Promise<HandedOver> {
  /** Why each way did not take it, as far as it was tried. */
  const failed: { inbox?: string; bus?: string } = {};
  const why = () => Object.values(failed).join(', and ');
  if (ways.includes('inbox')) {
    const handed = 'unreachable' in registry ? registry.unreachable : await byInbox(registry, envelope);
    if (typeof handed !== 'string') return handed;
    failed.inbox = `the registry is out of reach (${handed})`;
  }
  const usesSpool = ways.includes('spool');
  const usesBus = ways.includes('bus') && (!usesSpool || (await hasBus(paths)));
  const byBus = async (insists: Pick<Speech, 'until' | 'taken'> = {}): Promise<HandedOver | null> => {
    const { speak } = await import('./bus/speak.ts');
    const spoken = await speak({ envelope, key, paths, ...insists });
    if (spoken.heard) return { way: 'bus', answer: spoken.answer };
    failed.bus = `the bus does not help (${spoken.why})`;
    return null;
  };
  const heard = usesBus ? await byBus() : null;
  if (heard) return heard;
  try {
    await writeSpool(paths, envelope);
  } catch (error) {
    const spool = `the spool ${paths.spool} cannot be written (${reasonOf(error)})`;
    const all = [why(), spool].filter(Boolean).join(', and ');
    throw new NoWayError(`the event could be handed over by no way: ${all}`, { cause: error });
  }
  if (usesSpool) return { way: 'spool' };
  const file = spoolFile(paths, envelope);
  const handed = usesBus ? await insist(file, byBus) : null;
  return handed ?? { way: 'spool', file, unconfirmed: why() };
}

/**
 * The spool is no way of this attempt. So the bus is asked again and again, and the file lies there meanwhile, in case the driver can
 * read it: one that has gone was taken. Null: nobody has confirmed it.
 */
async function insist(
  file: string,
  byBus: (insists: Pick<Speech, 'until' | 'taken'>) => Promise<HandedOver | null>,
): Promise<HandedOver | null> {
  const taken = async () => !existsSync(file);
  const heard = await byBus({ until: performance.now() + INSIST_MS, taken });
  if (heard) await rm(file, { force: true }).catch(() => {});
  return heard ?? ((await taken()) ? { way: 'spool' } : null);
}

/** Loading an MQTT client only to find no address would cost every spooled event 50 ms. */
const hasBus = ({ bus }: Located['paths']): Promise<boolean> =>
  access(bus).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  );

/** A sentence: the registry does not take it. What it did take it keeps, so trouble after that is no reason to spool. */
async function byInbox(registry: Inbox, envelope: Envelope): Promise<HandedOver | string> {
  let answer: Answer | null;
  try {
    ({ answer } = await registry.deliver(requestOf(envelope), envelope.job, 'inbox'));
  } catch (error) {
    return reasonOf(error);
  }
  let driven = true;
  try {
    if (!answer) {
      driven = (await registry.peek(envelope.job))?.driven ?? false;
      if (driven) answer = await awaitAnswer(registry, envelope.id);
    }
  } catch {
    // Only the looking failed.
  }
  return answer ? { way: 'inbox', answer } : { way: 'inbox', answer: null, driven };
}

/** By this process's own clock: the registry's may be set by hand meanwhile. */
async function awaitAnswer(registry: Inbox, id: string): Promise<Answer | null> {
  const asked = performance.now();
  for (let pause = 1; performance.now() < asked + ANSWER_MS; ) {
    const answer = (await registry.inboxRow(id))?.answer;
    if (answer) return answer;
    await sleep(pause);
    // A live driver answers within milliseconds: a look costs less than a pause that is too long by half.
    if (performance.now() > asked + EAGER_MS) pause = Math.min(pause * 2, SLOWEST_POLL_MS);
  }
  return null;
}
