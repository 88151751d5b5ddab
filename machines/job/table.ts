// Section 5's table as data: rows are what is asked, columns where the attempt is. First terminal wins; a later, different
// one is logged and never applied. `stepward emit` reads it too, so this file imports neither XState nor zod.
import type { Limits } from './events.ts';
import type { AgentEventType, CloseRequest, End, Phase } from './vocabulary.ts';

export type Cell =
  | 'take'
  /** Only while the outcome is provisional: set by a clock or the transport, not by the agent and not by a person. */
  | 'take-if-provisional'
  | 'idempotent'
  | 'conflict'
  | 'refused'
  /** A new attempt begins iff its number is higher and the old attempt's cleanup is done. */
  | 'begin';

export type RequestKind =
  | 'news'
  | 'completed'
  | 'failed'
  | 'deadline_timeout'
  | 'idle_timeout'
  | 'permission_timeout'
  | 'cancelled'
  | 'redispatch';

const row = (pending: Cell, injected: Cell, finalizing: Cell, completed: Cell, failed: Cell, cancelled: Cell) =>
  Object.freeze({ pending, injected, finalizing, completed, failed, cancelled });

export const TABLE: Readonly<Record<RequestKind, Readonly<Record<Phase, Cell>>>> = Object.freeze({
  //                      queued…subscribed  injected   finalizing             completed     failed        cancelled
  news: row('take', 'take', 'refused', 'refused', 'refused', 'refused'),
  completed: row('take', 'take', 'take-if-provisional', 'idempotent', 'conflict', 'conflict'),
  failed: row('take', 'take', 'take-if-provisional', 'conflict', 'idempotent', 'conflict'),
  deadline_timeout: row('take', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  idle_timeout: row('refused', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  permission_timeout: row('refused', 'take', 'refused', 'conflict', 'idempotent', 'conflict'),
  cancelled: row('take', 'take', 'refused', 'conflict', 'conflict', 'idempotent'),
  redispatch: row('refused', 'refused', 'refused', 'begin', 'begin', 'begin'),
});

/** The row of the table for an event of an agent or a person. */
export function kindOf(type: AgentEventType | CloseRequest | 'redispatch'): RequestKind {
  switch (type) {
    case 'started':
    case 'progress':
    case 'permission_required':
    case 'permission_cleared':
      return 'news';
    default:
      return type;
  }
}

/** The row of the table for a timer, by the name of its delay. Every other timer belongs to one state and has no row. */
export function kindOfTimer(delay: string): RequestKind | null {
  switch (delay) {
    case 'deadline':
      return 'deadline_timeout';
    case 'idleTimeout':
      return 'idle_timeout';
    case 'permissionTimeout':
      return 'permission_timeout';
    default:
      return null;
  }
}

/** Timers that measure silence: time in which nobody watched is taken out of them (section 4, "Time"). */
export const SILENCE_DELAYS: readonly string[] = Object.freeze(['idleTimeout', 'permissionTimeout']);

/** Timers that limit how long an effect of ours may take, and by which limit: they say nothing while nobody ran the effect. */
export const EFFECT_LIMITS: Readonly<Record<string, keyof Limits>> = Object.freeze({
  queueTimeout: 'queue',
  preflightLimit: 'preflight',
  idleProbeLimit: 'idleProbe',
  openWaysLimit: 'openWays',
  typingLimit: 'typing',
  drainLimit: 'drain',
  settleGrace: 'settle',
  verifyLimit: 'verify',
});

/** What `emit` can say at the door about an attempt that has ended, without a driver. */
export const answerAtTheDoor = (type: AgentEventType, end: End): Cell => TABLE[kindOf(type)][end];
