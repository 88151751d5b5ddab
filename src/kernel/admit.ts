// Section 5's table and the checks that come before it. Pure.
import type { MachineDefinition } from './definition.ts';
import type { RefusalReason, Request, Row } from './ports.ts';

/** A decision that throws this often in a row makes its row `faulted`. */
export const FAULT_LIMIT = 3;

export type Admission =
  | { kind: 'take' }
  | { kind: 'begin'; attempt: number }
  | { kind: 'idempotent' }
  | { kind: 'conflict' }
  | { kind: 'refused'; reason: RefusalReason };

/** What the registry and the gate know about the request and the row does not. */
export interface Facts {
  /** The outbox or timer row that this request comes from still stands. */
  causeIsCurrent: boolean;
  /** The envelope is signed with this attempt's key. */
  signed: boolean;
  /** The event passes the machine's allow-list. */
  wellFormed: boolean;
  /** The machine would act on it: only the machine knows whether its outcome is provisional. */
  machineTakes: boolean;
}

const refused = (reason: RefusalReason): Admission => ({ kind: 'refused', reason });

export function admit(definition: MachineDefinition, row: Row, request: Request, facts: Facts): Admission {
  switch (request.from) {
    case 'agent':
      if (request.envelope.job !== row.id) return refused('unknown_job');
      if (request.envelope.attempt !== row.attempt) return refused('other_attempt');
      if (!facts.signed) return refused('bad_signature');
      if (!facts.wellFormed) return refused('malformed');
      break;
    case 'person':
      if (!facts.wellFormed) return refused('malformed');
      if ('expects' in request && request.expects !== undefined && request.expects !== row.attempt) {
        return refused('other_attempt');
      }
      break;
    case 'effect':
      if (!facts.causeIsCurrent) return refused('stale_result');
      break;
    case 'clock':
      if (!facts.causeIsCurrent) return refused('stale_timer');
      break;
  }
  if (row.faults >= FAULT_LIMIT) return refused('faulted');
  return byTable(definition, row, request, facts);
}

function byTable(definition: MachineDefinition, row: Row, request: Request, facts: Facts): Admission {
  const kind = kindOfRequest(definition, request);
  // An effect's result, or a timer of one state: the machine alone says what it means.
  if (kind === null) return { kind: 'take' };
  switch (definition.table[kind][row.phase]) {
    case 'take':
      return { kind: 'take' };
    case 'idempotent':
      return { kind: 'idempotent' };
    case 'conflict':
      return { kind: 'conflict' };
    case 'refused':
      return refused('not_now');
    case 'take-if-provisional':
      if (facts.machineTakes) return { kind: 'take' };
      return row.outcome?.status === kind ? { kind: 'idempotent' } : refused('not_now');
    case 'begin':
      return begin(row, request);
  }
}

function kindOfRequest(definition: MachineDefinition, request: Request) {
  switch (request.from) {
    case 'effect':
      return null;
    case 'clock':
      return definition.kindOfTimer(request.timer.delay);
    case 'agent':
      return definition.kindOf(request.envelope.event.type);
    case 'person':
      return definition.kindOf(request.event.type);
  }
}

function begin(row: Row, request: Request): Admission {
  const attempt = request.from === 'person' && 'attempt' in request.event ? request.event.attempt : 0;
  if (attempt <= row.attempt) return refused('other_attempt');
  if (row.cleanup === 'open') return refused('cleanup_open');
  return { kind: 'begin', attempt };
}
