// One entry of the log as a line for people.
import type { LogRow } from '../kernel/ports.ts';
import type { Colors } from './io.ts';
import { saidIn } from './news.ts';

export function logLine(entry: LogRow, ink: Colors): string {
  const { at, attempt, version, state, from, what, verdict, reason } = entry;
  const said = saidIn(entry);
  const ruling =
    verdict === 'take' || verdict === 'begin' ? '' : `  ${ink.yellow(reason ? `${verdict}: ${reason}` : verdict)}`;
  const head = `${clock(at)}  ${String(attempt).padStart(2)}/v${String(version).padEnd(3)}  ${ink.cyan(state.padEnd(28))}`;
  return `${head}  ${from.padEnd(6)} ${what}${ruling}${said === null ? '' : ink.dim(`  · ${said}`)}`;
}

/** Local time of day: what a person compares with a watch. The JSON has the date. */
export const clock = (at: number): string => new Date(at).toTimeString().slice(0, 8);
