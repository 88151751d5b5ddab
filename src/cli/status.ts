// A row as tools see it (docs/design.md section 5, "Statuses for people and tools"). Times are ISO 8601 of the registry's clock.
import { exitCodeOf } from '../../machines/job/exit.ts';
import { isEnd, type Reason, type Status, statusOf } from '../../machines/job/vocabulary.ts';
import { specOf } from '../jobs/spec.ts';
import type { Row, TimerRow } from '../kernel/ports.ts';
import { tokenOf } from './token.ts';
import { untilOf } from './waiting.ts';

export interface StatusObject {
  id: string;
  machine: string;
  status: Status;
  state: string;
  attempt: number;
  version: number;
  /** Null while open. */
  exit: number | null;
  reason: Reason | null;
  since: string;
  /** When the earliest clock that ends something fires; null where none runs. */
  until: string | null;
  token: string;
  agent: string;
  session: string;
  title: string;
  cwd: string;
  detail: string | null;
  cleanup: Row['cleanup'];
  faulted: string | null;
  createdAt: string;
}

export const isEnded = (row: Pick<Row, 'phase'>): boolean => isEnd(row.phase);

/** Null while the row is open: an outcome that is still provisional is not told. */
export const exitOf = (row: Row): number | null => (isEnded(row) && row.outcome ? exitCodeOf(row.outcome) : null);

export function statusObject(row: Row, timers: readonly TimerRow[]): StatusObject {
  const { agent, title, cwd } = specOf(row);
  const until = untilOf(timers);
  return {
    id: row.id,
    machine: row.machine,
    status: statusOf(row.phase),
    state: row.state,
    attempt: row.attempt,
    version: row.version,
    exit: exitOf(row),
    reason: isEnded(row) ? (row.outcome?.reason ?? null) : null,
    since: iso(row.since),
    until: until === null ? null : iso(until),
    token: tokenOf(row),
    agent,
    session: row.session,
    title,
    cwd,
    detail: detailOf(row),
    cleanup: row.cleanup,
    faulted: row.faultReason,
    createdAt: iso(row.createdAt),
  };
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** What was said or seen when the outcome was set. */
export function detailOf(row: Row): string | null {
  const { detail } = row.snapshot.context;
  return isEnded(row) && typeof detail === 'string' && detail !== '' ? detail : null;
}
