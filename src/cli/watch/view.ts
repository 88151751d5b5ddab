// `watch` as lines: a picture for terminals, a line a change for everything else.
import { formatDuration } from '../durations.ts';
import type { Colors } from '../io.ts';
import { clock } from '../log-line.ts';
import { cut, plain, table } from '../text.ts';
import type { Seen } from './source.ts';

/** The picture, to be painted over the former one. */
export function picture(seen: readonly Seen[], label: string, now: number, width: number, ink: Colors): string[] {
  const open = seen.filter(({ state }) => state.exit === null).length;
  const head = `${clock(now)}  ${open} open, ${seen.length - open} ended  ${ink.dim(plain(label))}`;
  // What comes from a bus was written by anybody who may publish there.
  const cells = seen.map((one) =>
    [wordOf(one), one.state.id, ...(one.agent === null ? [] : [one.agent]), timesOf(one, now), one.title ?? ''].map(
      (cell, column, all) => cut(plain(cell), column === all.length - 1 ? 60 : 120),
    ),
  );
  const lines = table(cells, (cell, row, column) => (column === 0 ? colourOf(seen[row]!, ink)(cell) : cell));
  const happened = seen.length === 1 && seen[0]!.happened.length > 0 ? ['', ...seen[0]!.happened] : [];
  return [head, '', ...(lines.length > 0 ? lines : ['no jobs']), ...happened].map((line) => narrow(line, width));
}

/** One job, for a log: when, which, what it is now. */
export function changeLine(one: Seen, now: number, ink: Colors): string {
  const { id, state, attempt, reason } = one.state;
  const why = reason === null ? '' : ` (${plain(reason)})`;
  const undriven = one.driven === false ? ', not driven' : '';
  const word = colourOf(one, ink)(plain(wordOf(one)));
  return `${clock(now)}  ${ink.bold(plain(id))}  ${word}${why}${undriven}  ${plain(state)}  attempt ${attempt}`;
}

/** What must differ for a change to be worth a line. */
export const gistOf = ({ state, driven }: Seen): string =>
  JSON.stringify([state.state, state.attempt, state.exit, driven]);

function wordOf({ state }: Seen): string {
  if (state.state === 'injected.blocked') return 'blocked';
  return state.exit === null ? state.status : state.status === 'error' ? 'failed' : state.status;
}

function timesOf({ state, driven }: Seen, now: number): string {
  const since = formatDuration(now - Date.parse(state.since));
  if (state.exit !== null) return `${state.reason ?? ''}, ${since} ago`;
  const left = state.until === null ? '' : `, ${formatDuration(Date.parse(state.until) - now)} left`;
  return `${since} in ${state.state}${left}${driven === false ? ', not driven' : ''}`;
}

function colourOf({ state, driven }: Seen, ink: Colors): (text: string) => string {
  if (state.status === 'completed') return ink.green;
  if (state.status === 'error') return ink.red;
  return state.status === 'cancelled' || driven === false ? ink.yellow : ink.cyan;
}

/** A line that wraps cannot be painted over. Colours have no width, so only plain text is cut; a coloured line is left to the
 *  terminal, which log-update measures. */
const narrow = (line: string, width: number): string => (line.includes('\u001b') ? line : cut(line, width));
