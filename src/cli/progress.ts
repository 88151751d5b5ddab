// One line about a job on its way: state, elapsed, time left, last words of the agent.

import { untilOf } from '../jobs/status.ts';
import type { Row, TimerRow } from '../kernel/ports.ts';
import { formatDuration } from './durations.ts';
import type { Colors } from './io.ts';
import type { News } from './news.ts';
import { isEnded } from './status.ts';
import { cut } from './text.ts';

export interface Progress {
  row: Row;
  timers: readonly TimerRow[];
  news: News;
}

/** `width`: columns of the terminal; a line that wraps cannot be painted over. Infinity: no terminal. */
export function progressLine({ row, timers, news }: Progress, now: number, width: number, colors: Colors): string {
  const parts = [formatDuration(now - (news.startedAt ?? row.createdAt))];
  const until = untilOf(timers);
  if (until !== null && !isEnded(row)) parts.push(`${formatDuration(until - now)} left`);
  const { hold } = row.snapshot.context;
  if (row.phase === 'pending' && typeof hold === 'string') parts.push(`held: ${hold}`);
  const head = `${row.id}  `;
  const tail = `  ${parts.join(', ')}`;
  const said = news.last === null ? '' : `  · ${news.last}`;
  const room = width - head.length - row.state.length - tail.length - 1;
  return `${colors.bold(row.id)}  ${colors.cyan(row.state)}${tail}${colors.dim(room > 8 ? cut(said, room) : '')}`;
}
