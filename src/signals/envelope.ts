// The envelope: one signed event of one attempt. Written by `stepward emit`, so no zod: the parser below is by hand and checks
// the shape; whether the event means anything now is the kernel's to say.
import { randomUUID } from 'node:crypto';
import type { Envelope, OutsideRequest } from '../kernel/ports.ts';
import { isCount, isEnvelopeId, isJobId, isRecord, isSha256 } from './names.ts';
import { signatureOf } from './signature.ts';

/** What a `detail` may hold at the most, in UTF-16 code units, as machines/job/events.ts counts them. */
export const DETAIL_LIMIT = 4000;
/** No envelope is longer, bytes; the longest honest one (a detail of control characters, escaped) has half of it. */
export const ENVELOPE_LIMIT = 64 * 1024;

export class EnvelopeError extends Error {
  override name = 'EnvelopeError';
}

interface Message {
  job: string;
  attempt: number;
  seq: number;
  event: Envelope['event'];
  /** The agent's clock, ms since the epoch. */
  now: number;
}

/** A too long detail is cut. The id is new: whoever repeats an envelope sends the same one again. */
export function makeEnvelope({ job, attempt, seq, event, now }: Message, key: string): Envelope {
  const { type, detail, manifest } = event;
  const unsigned: Omit<Envelope, 'sig'> = {
    v: 1,
    id: randomUUID(),
    job,
    attempt,
    seq,
    event: {
      type,
      ...(detail !== undefined && { detail: cutDetail(detail) }),
      ...(manifest !== undefined && { manifest }),
    },
    at: new Date(now).toISOString(),
  };
  return { ...unsigned, sig: signatureOf(unsigned, key) };
}

export const requestOf = (envelope: Envelope): OutsideRequest => ({ from: 'agent', id: envelope.id, envelope });

/** Cuts between characters, never inside a surrogate pair: half of one cannot be signed (RFC 8785). */
export function cutDetail(detail: string): string {
  const whole = detail.replace(/\p{Surrogate}/gu, '\uFFFD');
  if (whole.length <= DETAIL_LIMIT) return whole;
  const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(whole.slice(DETAIL_LIMIT - 1, DETAIL_LIMIT + 1));
  return whole.slice(0, splitsPair ? DETAIL_LIMIT - 1 : DETAIL_LIMIT);
}

const MEMBERS = ['v', 'id', 'job', 'attempt', 'seq', 'event', 'at', 'sig'];
const EVENT_MEMBERS = ['type', 'detail', 'manifest'];

/** From text or bytes as they came. Throws EnvelopeError with the first thing that is wrong. */
export function parseEnvelope(source: string): Envelope {
  if (Buffer.byteLength(source) > ENVELOPE_LIMIT) throw new EnvelopeError(`longer than ${ENVELOPE_LIMIT} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new EnvelopeError('not JSON');
  }
  if (!isRecord(value)) throw new EnvelopeError('not a JSON object');
  const check = checker(value);
  onlyThese(value, MEMBERS, '');
  check('v', (v) => v === 1);
  check('id', isEnvelopeId);
  check('job', isJobId);
  check('attempt', isCount);
  check('seq', isCount);
  check('at', (at) => typeof at === 'string' && at.length <= 40 && !Number.isNaN(Date.parse(at)));
  check('sig', isSha256);
  check('event', isRecord);
  const event = value.event as Record<string, unknown>;
  const checkEvent = checker(event, 'event.');
  onlyThese(event, EVENT_MEMBERS, 'event.');
  checkEvent('type', (type) => typeof type === 'string' && /^[a-z_.]{1,64}$/.test(type));
  checkEvent('detail', (d) => d === undefined || (typeof d === 'string' && d.length <= DETAIL_LIMIT));
  checkEvent('manifest', (m) => m === undefined || isSha256(m));
  return value as unknown as Envelope;
}

const checker =
  (value: Record<string, unknown>, prefix = '') =>
  (member: string, holds: (value: unknown) => boolean): void => {
    // Own members only: a missing one must not be found on the prototype.
    if (!holds(Object.hasOwn(value, member) ? value[member] : undefined)) {
      throw new EnvelopeError(`\`${prefix}${member}\` is missing or not what it must be`);
    }
  };

/** Strict: a member nobody knows would be signed, stored and never looked at. */
function onlyThese(value: object, members: string[], prefix: string): void {
  const stranger = Object.keys(value).find((member) => !members.includes(member));
  if (stranger !== undefined) throw new EnvelopeError(`unknown member \`${prefix}${stranger.slice(0, 64)}\``);
}
