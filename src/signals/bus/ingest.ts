// From a message of the bus to the inbox, through the gate that the spool has too (ways.ts). Only what is committed is acknowledged.
import { createHash } from 'node:crypto';
import type { Envelope, Registry, Row } from '../../kernel/ports.ts';
import { EnvelopeError, parseEnvelope, requestOf } from '../envelope.ts';
import { verifyEnvelope } from '../signature.ts';
import type { Message } from './link.ts';
import { createRefusals } from './refusals.ts';
import { type ParsedTopic, parseTopic } from './topics.ts';

interface Needs {
  registry: Pick<Registry, 'deliver' | 'note' | 'load'>;
  prefix: string;
  /** Something of this job is in the inbox. */
  onNews(job: string): void;
  /** It is in the inbox, and its sender, who has the key, may be told what becomes of it. */
  onTaken(envelope: Envelope, key: string): void;
}

export interface Ingest {
  /** Resolves when the message is dealt with; throws RegistryError where the registry does not take it: then nothing is acknowledged. */
  take(message: Message): Promise<void>;
  stop(): void;
}

type EventsTopic = Extract<ParsedTopic, { attempt: number }>;

/** UTF-16 code units of what a sender chose itself, in the log. */
const CUT = 64;

export function createIngest({ registry, prefix, onNews, onTaken }: Needs): Ingest {
  const refusals = createRefusals(async ({ job, why, data }) => {
    if (!(await registry.load(job))) return;
    const entry = { from: 'agent', what: 'bus', verdict: 'refused', reason: why } as const;
    await registry.note(job, { ...entry, data: { ...data, way: 'bus' } });
  });

  function refuse(topic: EventsTopic, why: string, payload: string, envelope?: Envelope): Promise<void> {
    const { job, attempt } = topic;
    const known = envelope && { id: envelope.id.slice(0, CUT), type: envelope.event.type.slice(0, CUT) };
    return refusals.tell({ job, why, data: { attempt, ...known }, mark: digest(job, payload, why) });
  }

  return {
    async take({ topic: name, payload }) {
      const topic = parseTopic(prefix, name);
      if (topic?.kind !== 'events') return;
      // First what costs nothing: a flood of it must not keep the registry from the others.
      const envelope = read(payload);
      if (typeof envelope === 'string') return refuse(topic, envelope, payload);
      const row = await registry.load(topic.job);
      if (!row) return;
      const proven = prove(envelope, topic, row);
      if ('why' in proven) return refuse(topic, proven.why, payload, envelope);
      await registry.deliver(requestOf(envelope), row.id, 'bus');
      onNews(row.id);
      onTaken(envelope, proven.key);
    },
    stop: refusals.stop,
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

/**
 * Only what the key of the present attempt vouches for is put into the inbox, as nothing else could be accepted: a stranger would
 * fill it, and under the id of a true envelope that comes later its copy would take the place, and get the refusal.
 */
function prove(envelope: Envelope, topic: EventsTopic, row: Row): { key: string } | { why: string } {
  const { job, attempt } = envelope;
  if (job !== topic.job || attempt !== topic.attempt) {
    const as = `job ${topic.job}, attempt ${topic.attempt}`;
    return { why: `other_attempt: it is of job ${job}, attempt ${attempt}, and came as of ${as}` };
  }
  if (attempt !== row.attempt) {
    return { why: `other_attempt: it is of attempt ${attempt}, and the present one is ${row.attempt}` };
  }
  if (row.key === null) return { why: 'bad_signature: this attempt has no key yet' };
  return verifyEnvelope(envelope, row.key)
    ? { key: row.key }
    : { why: 'bad_signature: it is not signed with the key of this attempt' };
}

const digest = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
