// Receipts: what the driver says to a sender by the bus. Signed with the attempt's key, since whoever has the broker's password can
// publish on the topic, and a PUBACK proves nothing. Loaded by `emit`: no zod, no mqtt.
import type { Answer, Envelope, RefusalReason, VerdictKind } from '../../kernel/ports.ts';
import { isCount, isEnvelopeId, isJobId, isRecord, isSha256 } from '../names.ts';
import { isSignedWith, signatureOf } from '../signature.ts';

export interface Receipt {
  v: 1;
  /** Of the envelope. */
  id: string;
  job: string;
  attempt: number;
  /** Null: it is in the inbox and kept; nobody has decided it yet. */
  answer: Answer | null;
  /** The registry's clock, ISO 8601. */
  at: string;
  sig: string;
}

const RECEIPT_LIMIT = 4096;
const VERDICTS: readonly VerdictKind[] = ['take', 'begin', 'idempotent', 'conflict', 'refused'];

/** @param now registry time, ms */
export function makeReceipt(
  { id, job, attempt }: Pick<Envelope, 'id' | 'job' | 'attempt'>,
  answer: Answer | null,
  now: number,
  key: string,
): Receipt {
  const unsigned: Omit<Receipt, 'sig'> = { v: 1, id, job, attempt, answer, at: new Date(now).toISOString() };
  return { ...unsigned, sig: signatureOf(unsigned, key) };
}

/** Null: it is none, it is another envelope's, or it is not signed with the key: nothing that the sender may believe. */
export function readReceipt(
  text: string,
  { id, job, attempt }: Pick<Envelope, 'id' | 'job' | 'attempt'>,
  key: string,
): Receipt | null {
  const receipt = parseReceipt(text);
  if (receipt?.id !== id || receipt.job !== job || receipt.attempt !== attempt) return null;
  return isSignedWith(receipt, key) ? receipt : null;
}

function parseReceipt(text: string): Receipt | null {
  if (text.length > RECEIPT_LIMIT) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const { v, id, job, attempt, answer, at, sig } = value;
  const isWhole = v === 1 && isEnvelopeId(id) && isJobId(job) && isCount(attempt) && isSha256(sig);
  return isWhole && typeof at === 'string' && (answer === null || isAnswer(answer))
    ? (value as unknown as Receipt)
    : null;
}

function isAnswer(value: unknown): value is Answer {
  if (!isRecord(value)) return false;
  const { verdict, version, reason, phase } = value;
  const isReason = reason === null || typeof (reason as RefusalReason) === 'string';
  return (
    VERDICTS.includes(verdict as VerdictKind) && Number.isSafeInteger(version) && isReason && typeof phase === 'string'
  );
}
