// Reading and making rows, and the shapes in which SQLite gives them.
import { isEnd } from '../../../machines/job/vocabulary.ts';
import type { Change, Clock, DriverRecord, NewRow, OpenRow, PeekedRow, Registry, Row } from '../../kernel/ports.ts';
import { RegistryError } from '../errors.ts';
import { applyEffects, settle } from './apply.ts';
import { type Connection, type Sql, Undo } from './connection.ts';
import { claim } from './leases.ts';
import { writeLog } from './log.ts';
import * as plans from './plans.ts';

/** A row as SQLite gives it: what is JSON in it is still text. */
type RawRow = Omit<Row, 'spec' | 'snapshot' | 'outcome'> & { spec: string; snapshot: string; outcome: string | null };
type RawPeek = Omit<PeekedRow, 'outcome' | 'driven'> & { outcome: string | null; driven: number };

type RawOpen = Omit<OpenRow, 'driver'> & { driver: string | null };

type Rows = Pick<Registry, 'insert' | 'load' | 'peek' | 'idsWithPrefix' | 'newestId' | 'list' | 'openRows'>;

export function createRows(connection: Connection, clock: Clock): Rows {
  return {
    async insert(row, change, born) {
      const made = await connection.write((sql) => insert(sql, row, change, clock.now(), born), { durable: true });
      if (made) return made;
      throw new RegistryError('duplicate_id', `There is a job ${row.id} already; a new job needs an id of its own.`);
    },
    load: (id) => connection.read((sql) => load(sql, id)),
    peek: (id) =>
      connection.read((sql) => {
        const raw = sql.get<RawPeek>(plans.PEEK_JOB, { id, now: clock.now() });
        return raw && { ...raw, outcome: parse<Row['outcome']>(raw.outcome), driven: raw.driven === 1 };
      }),
    idsWithPrefix: (prefix, limit) =>
      connection.read((sql) =>
        sql
          .all<{ id: string }>(plans.IDS_BETWEEN, { from: prefix, to: `${prefix}\u{10ffff}`, limit })
          .map(({ id }) => id),
      ),
    newestId: () => connection.read((sql) => sql.get<{ id: string }>(plans.NEWEST_ID)?.id),
    list: ({ open = false, session, limit = -1 } = {}) =>
      connection.read((sql) => {
        const text = plans.listJobs({ open, session: session !== undefined });
        return sql.all<RawRow>(text, { limit, ...(session !== undefined && { session }) }).map(toRow);
      }),
    openRows: () => connection.read((sql) => sql.all<RawOpen>(plans.OPEN_ROWS).map(withDriver)),
  };
}

function withDriver(raw: RawOpen): OpenRow {
  return { ...raw, driver: parse<DriverRecord | null>(raw.driver) };
}

type Born = Parameters<Registry['insert']>[2];

function insert(sql: Sql, row: NewRow, change: Change, now: number, born: Born): Row | undefined {
  const { next, effects = [] } = change;
  if (!next) throw new TypeError(`insert of job ${row.id}: the change has no first state`);
  const outcome = next.outcome && JSON.stringify(next.outcome);
  const inserted = sql.run(plans.INSERT_JOB, {
    id: row.id,
    machine: row.machine,
    session: row.session,
    phase: next.phase,
    state: next.state,
    outcome,
    cleanup: isEnd(next.phase) && effects.some(({ kind }) => kind === 'cleanup') ? 'open' : 'none',
    now,
    spec: JSON.stringify(row.spec),
    snapshot: JSON.stringify(next.snapshot),
  });
  if (inserted === 0) throw new Undo(undefined);
  const standing = { attempt: 1, version: 1, epoch: 0, phase: next.phase, state: next.state, outcome };
  writeLog(sql, row.id, standing, change.log, now);
  settle(sql, row.id, change.cause);
  applyEffects(sql, { job: row.id, attempt: 1, version: 1, now }, effects);
  // Nobody watched before, so no silence is shifted and nobody can be in the way.
  if (born) claim(sql, row.id, born.driver, { now, ttlMs: born.ttlMs, gapMs: 0 }, () => false);
  return load(sql, row.id);
}

function load(sql: Sql, id: string): Row | undefined {
  const raw = sql.get<RawRow>(plans.LOAD_JOB, { id });
  return raw && toRow(raw);
}

const toRow = (raw: RawRow): Row => ({
  ...raw,
  spec: parse(raw.spec),
  snapshot: parse(raw.snapshot),
  outcome: parse(raw.outcome),
});

const parse = <T>(text: string | null): T => (text === null ? null : JSON.parse(text)) as T;
