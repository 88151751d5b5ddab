// What the log tells about a running attempt: when it began and what its agent last said.
import type { LogRow, Registry } from '../kernel/ports.ts';
import { plain } from './text.ts';

const PAGE = 500;

export interface News {
  afterSeq: number;
  attempt: number;
  /** The attempt's first entry, registry time. */
  startedAt: number | null;
  /** The agent's last words, made plain. */
  last: string | null;
}

export const noNews: News = Object.freeze({ afterSeq: 0, attempt: 0, startedAt: null, last: null });

/** All entries after `afterSeq`, oldest first. */
export async function logAfter(registry: Registry, job: string, afterSeq: number): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (let after = afterSeq; ; ) {
    const page = await registry.log({ job, afterSeq: after, limit: PAGE });
    rows.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return rows;
    after = last.seq;
  }
}

export async function readNews(registry: Registry, job: string, before: News): Promise<News> {
  const news = { ...before };
  for (const row of await logAfter(registry, job, before.afterSeq)) {
    news.afterSeq = row.seq;
    if (row.attempt !== news.attempt) Object.assign(news, { attempt: row.attempt, startedAt: row.at, last: null });
    const said = row.from === 'agent' && row.verdict === 'take' ? saidIn(row) : null;
    if (said) news.last = said;
  }
  return news;
}

/** The detail of a log entry, or null. */
export function saidIn(row: LogRow): string | null {
  const { data } = row;
  const detail = typeof data === 'object' && data !== null && !Array.isArray(data) ? data.detail : null;
  return typeof detail === 'string' && plain(detail) !== '' ? plain(detail) : null;
}
