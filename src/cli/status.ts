// A row as `status --json` and its like print it: the state that everybody is told, and what only this machine needs to know.
import { isEnd } from '../../machines/job/vocabulary.ts';
import { specOf } from '../jobs/spec.ts';
import { exitOf, iso, type StateObject, stateObject } from '../jobs/status.ts';
import type { Row, TimerRow } from '../kernel/ports.ts';
import { tokenOf } from './token.ts';

export { exitOf, iso };

export interface StatusObject extends StateObject {
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

export function statusObject(row: Row, timers: readonly TimerRow[]): StatusObject {
  const { agent, title, cwd } = specOf(row);
  return {
    ...stateObject(row, timers),
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

/** What was said or seen when the outcome was set. */
export function detailOf(row: Row): string | null {
  const { detail } = row.snapshot.context;
  return isEnded(row) && typeof detail === 'string' && detail !== '' ? detail : null;
}
