// The open outbox rows that belong to a row as it was read, remembered: every piece of news of an effect asks for them.
// They only change with a commit of the row's holder, which makes a new Row or is told to `carryOver`.
import type { Change, OutboxRow, Registry, Row } from './ports.ts';

const known = new WeakMap<Row, readonly OutboxRow[]>();

export async function openWorkOf(registry: Registry, row: Row): Promise<readonly OutboxRow[]> {
  let work = known.get(row);
  if (!work) {
    work = await registry.openWork(row.id);
    known.set(row, work);
  }
  return work;
}

/** After a commit that made `next` of `row` (the same object if nothing moved). */
export function carryOver(row: Row, next: Row | null, change: Change): void {
  const work = known.get(row);
  known.delete(row);
  const touched = change.cause?.outboxId !== undefined || change.effects?.some(({ kind }) => TOUCH.has(kind));
  if (work && next && !touched) known.set(next, work);
}

const TOUCH: ReadonlySet<string> = new Set(['invoke', 'stop', 'cleanup']);
