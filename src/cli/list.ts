// Rows as a table.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { statusOf } from '../../machines/job/vocabulary.ts';
import { specOf } from '../jobs/spec.ts';
import { untilOf } from '../jobs/status.ts';
import type { Registry, Row, TimerRow } from '../kernel/ports.ts';
import { REGISTRY_FILE } from '../registry/sqlite/files.ts';
import type { Context } from './context.ts';
import { formatDuration } from './durations.ts';
import { holderOf, isFaulted, needsDriver } from './holder.ts';
import { isHandedOver } from './human.ts';
import type { Colors, Output } from './io.ts';
import { type NextStep, nextSteps } from './next.ts';
import { isEnded } from './status.ts';
import { cut, table } from './text.ts';

export interface Listed {
  row: Row;
  timers: TimerRow[];
  /** Not ended, or not cleaned up. */
  open: boolean;
  driven: boolean;
  next: NextStep | null;
}

/** Oldest first. `all`: ended ones, too. */
export async function listRows(registry: Registry, all: boolean): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const row of await registry.list({ open: !all })) {
    const open = needsDriver(row);
    const driven = open && (await holderOf(registry, row.id)) !== null;
    const timers = isEnded(row) ? [] : await registry.timers(row.id);
    listed.push({ row, timers, open, driven, next: firstStep(row, driven) });
  }
  return listed;
}

/** A person's answer is a long command; explain has it, with the brief. */
function firstStep(row: Row, driven: boolean): NextStep | null {
  const [first] = nextSteps(row, driven);
  const answers = driven && isHandedOver(row);
  return answers ? { command: `stepward explain ${row.id}`, why: 'see how to answer' } : (first ?? null);
}

/** A directory that was named and holds none is more likely a slip than an empty list. True: it was told. */
export async function tellNoRegistry({ out, registryPlace }: Context): Promise<boolean> {
  const { dir, source } = await registryPlace();
  const named = source === '--registry' || source === 'STEPWARD_REGISTRY';
  if (!named || existsSync(join(dir, REGISTRY_FILE))) return false;
  out.say(`no registry in ${dir} yet`);
  return true;
}

export function printRows(out: Output, now: number, rows: readonly Listed[], withNext = false): void {
  const cells = rows.map((listed) => [
    wordOf(listed),
    listed.row.id,
    specOf(listed.row).agent,
    cut(specOf(listed.row).title, 40),
    timesOf(listed, now),
    ...(withNext ? [listed.next?.command ?? ''] : []),
  ]);
  const lines = table(cells, (cell, row, column) => {
    if (column === 0) return colourOf(rows[row]!, out.ink)(cell);
    return column === 5 ? out.ink.bold(cell) : cell;
  });
  for (const line of lines) out.print(line);
}

function wordOf({ row, open, driven }: Listed): string {
  if (isFaulted(row)) return 'faulted';
  if (isEnded(row))
    return row.outcome?.reason && row.phase !== 'completed' ? `${row.phase} ${row.outcome.reason}` : row.phase;
  const asks = row.state === 'injected.blocked' ? 'blocked' : statusOf(row.phase);
  return open && !driven ? `${asks}, not driven` : asks;
}

function timesOf({ row, timers }: Listed, now: number): string {
  if (isEnded(row)) return `${formatDuration(now - row.since)} ago`;
  const until = untilOf(timers);
  const left = until === null ? '' : `, ${formatDuration(until - now)} left`;
  return `${formatDuration(now - row.since)} in ${row.state}${left}`;
}

function colourOf({ row, driven }: Listed, ink: Colors): (text: string) => string {
  if (row.phase === 'completed') return ink.green;
  if (row.phase === 'failed' || isFaulted(row)) return ink.red;
  return row.phase === 'cancelled' || !driven ? ink.yellow : ink.cyan;
}
