// A row as tools see it (docs/design.md section 5, "Statuses for people and tools"): the part that `status --json` prints and that
// the bus carries as `state`. Times are ISO 8601 of the registry's clock.
import { exitCodeOf } from '../../machines/job/exit.ts';
import { isEnd, type Reason, type Status, statusOf } from '../../machines/job/vocabulary.ts';
import type { Row, TimerRow } from '../kernel/ports.ts';

export interface StateObject {
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
}

/** Null while the row is open: an outcome that is still provisional is not told. */
export const exitOf = (row: Pick<Row, 'phase' | 'outcome'>): number | null =>
  isEnd(row.phase) && row.outcome ? exitCodeOf(row.outcome) : null;

export function stateObject(row: Row, timers: readonly TimerRow[]): StateObject {
  const until = untilOf(timers);
  return {
    id: row.id,
    machine: row.machine,
    status: statusOf(row.phase),
    state: row.state,
    attempt: row.attempt,
    version: row.version,
    exit: exitOf(row),
    reason: isEnd(row.phase) ? (row.outcome?.reason ?? null) : null,
    since: iso(row.since),
    until: until === null ? null : iso(until),
  };
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Pauses and polls: they move the row on and end nothing. */
const MINOR: readonly string[] = Object.freeze(['quiet', 'diskPoll', 'idleBackoff']);

/** The armed timers, the next first; those that end nothing only where nothing else is armed. */
export function timersThatMatter(timers: readonly TimerRow[]): TimerRow[] {
  const sorted = timers.toSorted((a, b) => a.fireAt - b.fireAt);
  const ending = sorted.filter(({ delay }) => !MINOR.includes(delay));
  return ending.length > 0 ? ending : sorted;
}

/** Until when the row waits, registry time, or null where no clock runs. */
export const untilOf = (timers: readonly TimerRow[]): number | null => timersThatMatter(timers)[0]?.fireAt ?? null;
