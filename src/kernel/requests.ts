// What moves a row: requests, and what the one who asked is told.
import type { JobEvent } from '../../machines/job/events.ts';
import type { Phase } from '../../machines/job/vocabulary.ts';
import type { TimerRow } from './rows.ts';

/** One signed event of one attempt. Signed over everything but `sig`. */
export interface Envelope {
  v: 1;
  id: string;
  job: string;
  attempt: number;
  seq: number;
  /** {type, detail?, manifest?}; the sequence number joins it on the way into the machine. */
  event: { type: string; detail?: string; manifest?: string };
  /** The agent's clock, ISO 8601; advisory only. */
  at: string;
  sig: string;
}

/** `expects`: only if the row is still at this attempt (the dispatch token that the caller saw). */
export type OutsideRequest =
  | { from: 'agent'; id: string; envelope: Envelope }
  | { from: 'person'; id: string; event: { type: string; detail?: string }; by: string; expects?: number }
  | { from: 'person'; id: string; event: { type: 'redispatch'; attempt: number; detail?: string }; by: string };

/** What an effect reports at its end. */
export type EffectResult =
  | { type: `xstate.done.actor.${string}`; output: unknown }
  | { type: `xstate.error.actor.${string}`; error: { message: string; code?: string } };

export type Request =
  | OutsideRequest
  | { from: 'clock'; timer: TimerRow }
  | { from: 'effect'; outboxId: number; event: EffectResult | JobEvent };

export type RequestSource = Request['from'];

/** What admit says; `take` becomes a commit. */
export type VerdictKind = 'take' | 'begin' | 'idempotent' | 'conflict' | 'refused';
export type RefusalReason =
  | 'unknown_job'
  | 'other_attempt'
  | 'bad_signature'
  | 'malformed'
  | 'not_now'
  | 'stale_result'
  | 'stale_timer'
  | 'cleanup_open'
  | 'faulted';

/** What the one who asked is told, now and at every repetition. */
export interface Answer {
  verdict: VerdictKind;
  /** The row's version after the commit, or the one that was judged. */
  version: number;
  reason: RefusalReason | null;
  phase: Phase;
}
