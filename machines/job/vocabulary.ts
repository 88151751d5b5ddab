// The frozen words of a job (docs/design.md section 2 and 5). Everything that prints, stores or compares one of them takes it
// from here. No zod and no XState: `stepward emit` loads this file and must start fast.

/** What an agent may say about its attempt, by a signed envelope. */
export const AGENT_EVENTS = Object.freeze([
  'started',
  'progress',
  'permission_required',
  'permission_cleared',
  'completed',
  'failed',
] as const);
export type AgentEventType = (typeof AGENT_EVENTS)[number];

/** What `stepward close` may ask for. */
export const CLOSE_REQUESTS = Object.freeze(['deadline_timeout', 'cancelled'] as const);
export type CloseRequest = (typeof CLOSE_REQUESTS)[number];

/** How an attempt ends in the machine. */
export const ENDS = Object.freeze(['completed', 'failed', 'cancelled'] as const);
export type End = (typeof ENDS)[number];

/** Where an attempt is, as far as the table of section 5 cares. Derived from the snapshot at every commit. */
export const PHASES = Object.freeze(['pending', 'injected', 'finalizing', ...ENDS] as const);
export type Phase = (typeof PHASES)[number];

/** What people and tools are shown. */
export const STATUSES = Object.freeze(['pending', 'running', 'completed', 'error', 'cancelled'] as const);
export type Status = (typeof STATUSES)[number];

export const REASONS = Object.freeze([
  'reported',
  'agent_failed',
  'report_invalid',
  'deadline_timeout',
  'idle_timeout',
  'permission_timeout',
  'bus_away',
  'delivery_unknown',
  'agent_exited',
  'internal_error',
  'session_busy',
  'session_blocked',
  'preflight_failed',
  'no_channel',
  'not_delivered',
  'cancelled',
] as const);
export type Reason = (typeof REASONS)[number];

/** Why nothing was typed at the last look. */
export const HOLDS = Object.freeze(['busy', 'draft', 'dialog'] as const);
export type Hold = (typeof HOLDS)[number];

/** The once step that carries the prompt to the agent: each transport has one of them. After it is marked, "nothing was sent"
 *  can no longer be said without proof. */
export const DELIVERY_STEPS = Object.freeze(['paste', 'spawn', 'hand-over'] as const);
/** The once step that carries the one reminder. */
export const REMINDER_STEP = 'remind-paste';

export interface Outcome {
  status: End;
  reason: Reason;
}

const STATUS_OF: Record<Phase, Status> = Object.freeze({
  pending: 'pending',
  injected: 'running',
  finalizing: 'running',
  completed: 'completed',
  failed: 'error',
  cancelled: 'cancelled',
});
export const statusOf = (phase: Phase): Status => STATUS_OF[phase];

export const isEnd = (phase: string): phase is End => (ENDS as readonly string[]).includes(phase);
export const isAgentEvent = (type: string): type is AgentEventType =>
  (AGENT_EVENTS as readonly string[]).includes(type);
