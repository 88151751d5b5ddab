// Hands an envelope over by the first way that works: the inbox, where a live driver answers within milliseconds, else the spool.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Envelope, Registry } from '../kernel/ports.ts';
import { requestOf } from './envelope.ts';
import { reasonOf } from './files.ts';
import { type SpoolPaths, writeSpool } from './spool.ts';

export type HandedOver =
  | { way: 'inbox'; answer: Answer }
  /** It is in the inbox and stays there; `driven`: somebody holds the row and will decide it. */
  | { way: 'inbox'; answer: null; driven: boolean }
  | { way: 'spool' };

/** No way took the envelope. */
export class NoWayError extends Error {
  override name = 'NoWayError';
}

type Inbox = Pick<Registry, 'deliver' | 'inboxRow' | 'peek'>;

/** How long `emit` waits for a live driver's answer (docs/design.md section 6), ms. */
export const ANSWER_MS = 2000;
/** So long it is looked for at every millisecond. */
const EAGER_MS = 40;
const SLOWEST_POLL_MS = 20;

/** @param registry null, and why: it could not even be opened. Throws NoWayError. */
export async function handOver(registry: Inbox | { unreachable: string }, envelope: Envelope, paths: SpoolPaths) {
  const why = 'unreachable' in registry ? registry.unreachable : await byInbox(registry, envelope);
  if (typeof why !== 'string') return why;
  try {
    await writeSpool(paths, envelope);
  } catch (error) {
    throw new NoWayError(
      `the event could be handed over by no way: the registry is out of reach (${why}), and the spool ${paths.spool} cannot be written (${reasonOf(error)})`,
      { cause: error },
    );
  }
  return { way: 'spool' } as HandedOver;
}

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
