// From a message of the bus to the inbox, through the gate that the spool has too (ways.ts). Only what is committed is acknowledged.
import { createHash } from 'node:crypto';
import type { Envelope, OutsideRequest, Registry, Row } from '../../kernel/ports.ts';
import { EnvelopeError, parseEnvelope, requestOf } from '../envelope.ts';
import { verifyEnvelope } from '../signature.ts';
import type { Message } from './link.ts';
import { parseTopic } from './topics.ts';

interface Needs {
  registry: Pick<Registry, 'deliver' | 'note' | 'load'>;
  prefix: string;
  /** Something of this job is in the inbox. */
  onNews(job: string): void;
  /** It is in the inbox, and its sender, who has the key, may be told what becomes of it. */
  onTaken(envelope: Envelope, key: string): void;
}

/** Resolves when the message is dealt with; throws RegistryError where the registry does not take it: then nothing is acknowledged. */
export type Ingest = (message: Message) => Promise<void>;

/** Refusals that were logged; a sender that repeats itself every 3 s, or a retained message, must not fill the log. */
const TOLD_LIMIT = 1000;

export function createIngest({ registry, prefix, onNews, onTaken }: Needs): Ingest {
  const told = new Set<string>();

  async function refuse(
    topic: Extract<ReturnType<typeof parseTopic>, { attempt: number }>,
    why: string,
    payload: string,
  ) {
    const name = digest(topic.job, payload, why);
    if (told.has(name)) return;
    const data = { attempt: topic.attempt, way: 'bus' };
    await registry.note(topic.job, { from: 'agent', what: 'bus', verdict: 'refused', reason: why, data });
    if (told.size >= TOLD_LIMIT) told.clear();
    told.add(name);
  }

  return async ({ topic: name, payload }) => {
    const topic = parseTopic(prefix, name);
    if (topic?.kind !== 'events') return;
    const row = await registry.load(topic.job);
    if (!row) return;
    const envelope = read(payload);
    if (typeof envelope === 'string') return refuse(topic, envelope, payload);
    const why = refusal(envelope, topic, row);
    if (why !== null) return refuse(topic, why, payload);
    await registry.deliver(requestFor(envelope, row, payload), row.id, 'bus');
    onNews(row.id);
    if (envelope.attempt === row.attempt && row.key !== null) onTaken(envelope, row.key);
  };
}

function read(payload: string): Envelope | string {
  try {
    return parseEnvelope(payload);
  } catch (error) {
    if (error instanceof EnvelopeError) return error.message;
    throw error;
  }
}

function refusal(envelope: Envelope, topic: { job: string; attempt: number }, row: Row): string | null {
  const { job, attempt } = envelope;
  if (job !== topic.job || attempt !== topic.attempt) {
    return `other_attempt: it is of job ${job}, attempt ${attempt}, and came as of job ${topic.job}, attempt ${topic.attempt}`;
  }
  // Without a key the lease holder judges alone, as for the spool.
  if (attempt !== row.attempt || row.key === null || verifyEnvelope(envelope, row.key)) return null;
  return 'bad_signature: it is not signed with the key of this attempt';
}

/**
 * The kernel refuses what is of another attempt, and logs it. Nothing vouches for its id, since the key of a former attempt is gone:
 * under that id a stranger's copy would take the place, and get the refusal, of a true envelope that comes later.
 */
function requestFor(envelope: Envelope, row: Row, payload: string): OutsideRequest {
  if (envelope.attempt === row.attempt) return requestOf(envelope);
  return { from: 'agent', id: `other-${digest(payload).slice(0, 48)}`, envelope };
}

const digest = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
