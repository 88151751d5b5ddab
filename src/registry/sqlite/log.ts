// The log: one entry for each thing that was decided or done, with where the row was after it.
import type { LogEntry, LogRow } from '../../kernel/ports.ts';
import type { Sql } from './connection.ts';
import * as plans from './plans.ts';

/** Where a row stands, as the log tells it; the outcome still as text. */
export type RawStanding = Pick<LogRow, 'attempt' | 'version' | 'epoch' | 'phase' | 'state'> & {
  outcome: string | null;
};

/** For entries about a job that the registry does not have. */
const NOWHERE: RawStanding = { attempt: 0, version: 0, epoch: 0, phase: 'pending', state: 'unknown', outcome: null };

export function standingOf(sql: Sql, job: string): RawStanding {
  return sql.get<RawStanding>(plans.STANDING, { id: job }) ?? NOWHERE;
}

export function writeLog(sql: Sql, job: string, standing: RawStanding, entry: LogEntry, now: number): void {
  sql.run(plans.WRITE_LOG, {
    job,
    attempt: standing.attempt,
    version: standing.version,
    epoch: standing.epoch,
    phase: standing.phase,
    state: standing.state,
    outcome: standing.outcome,
    now,
    source: entry.from,
    what: entry.what,
    verdict: entry.verdict,
    reason: entry.reason ?? null,
    data: JSON.stringify(entry.data ?? null),
    driver: entry.driver ?? null,
  });
}

export function changedSince(sql: Sql, after: number): { seq: number; jobs: string[] } {
  const seq = sql.get<{ seq: number }>(plans.NEWEST_SEQ)?.seq ?? 0;
  if (seq <= after) return { seq, jobs: [] };
  return { seq, jobs: sql.all<{ job: string }>(plans.CHANGED_JOBS, { after }).map(({ job }) => job) };
}

type RawLogRow = Omit<LogRow, 'data' | 'outcome'> & { data: string; outcome: string | null };

export function readLog(sql: Sql, filter: { job?: string; afterSeq?: number; limit?: number }): LogRow[] {
  const { job, afterSeq = 0, limit = -1 } = filter;
  const params = { after: afterSeq, limit, ...(job !== undefined && { job }) };
  return sql.all<RawLogRow>(plans.readLog(job !== undefined), params).map((raw) => ({
    ...raw,
    data: JSON.parse(raw.data) as LogRow['data'],
    outcome: raw.outcome === null ? null : (JSON.parse(raw.outcome) as LogRow['outcome']),
  }));
}
