// What can be said to an agent before anything is signed: from the row alone, without a driver and without a key, which is gone
// when the attempt has ended (docs/design.md section 6).
import { answerAtTheDoor } from '../../machines/job/table.ts';
import { type AgentEventType, isEnd } from '../../machines/job/vocabulary.ts';
import type { Answer, RefusalReason } from '../kernel/ports.ts';

/** What of a row the door looks at. */
export type Seen = Pick<Answer, 'version' | 'phase'> & { attempt: number };

export interface Turned {
  verdict: 'idempotent' | 'conflict' | 'refused';
  reason: RefusalReason | null;
  /** Null: there is no row. */
  row: Pick<Answer, 'version' | 'phase'> | null;
}

/** Null: come in. */
export function atTheDoor(type: AgentEventType, attempt: number, seen: Seen | undefined): Turned | null {
  if (!seen) return { verdict: 'refused', reason: 'unknown_job', row: null };
  const row = { version: seen.version, phase: seen.phase };
  if (seen.attempt !== attempt) return { verdict: 'refused', reason: 'other_attempt', row };
  if (!isEnd(seen.phase)) return null;
  const cell = answerAtTheDoor(type, seen.phase);
  if (cell === 'idempotent' || cell === 'conflict') return { verdict: cell, reason: null, row };
  return { verdict: 'refused', reason: 'not_now', row };
}
