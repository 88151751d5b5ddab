// One connection: transactions, patience with other processes, prepared statements. Knows no table.
import { RegistryError } from '../errors.ts';
import type { Database, Statement, Value } from './driver.ts';
import { asRegistryError, isBusy } from './failures.ts';
import { BEGIN, COMMIT, ROLLBACK, syncLevel } from './plans.ts';

/** How long a call waits for the lock before it fails with `busy`, ms. */
const PATIENCE_MS = 10_000;
/** Every waiting process draws its own pause, 0.5 to 4.5 ms: with SQLite's own handler one of them gets nearly everything. */
const pauseMs = (): number => 0.5 + Math.random() * 4;

export type Params = Readonly<Record<string, Value>>;

/** What a transaction's work may do. `run` gives the number of changed rows. */
export interface Sql {
  run(sql: string, params?: Params): number;
  get<T>(sql: string, params?: Params): T | undefined;
  all<T>(sql: string, params?: Params): T[];
  /** Several statements without parameters, not kept prepared. */
  exec(sql: string): void;
}

export interface Connection {
  /** A read outside any transaction: one statement is one snapshot. */
  read<T>(work: (sql: Sql) => T): Promise<T>;
  /** BEGIN IMMEDIATE, the work without a break, COMMIT. `undo` thrown by the work rolls back and becomes the result. */
  write<T>(work: (sql: Sql) => T, options?: { durable?: boolean }): Promise<T>;
  /** For what needs no lock (PRAGMA data_version); throws the driver's error. */
  readonly sql: Sql;
  exec(sql: string): Promise<void>;
  /** Called after each commit of this connection. */
  onCommit: () => void;
  close(): void;
}

/** Thrown inside `write`: nothing is written, and `result` is what the caller gets. */
export class Undo<T> {
  readonly result: T;
  constructor(result: T) {
    this.result = result;
  }
}

export function connect(db: Database, file: string, patienceMs = PATIENCE_MS): Connection {
  const statements = new Map<string, Prepared>();
  let closed = false;
  let level: 'NORMAL' | 'FULL' | undefined;

  const prepared = (text: string): Prepared => {
    let known = statements.get(text);
    if (!known) {
      known = prepare(db, text);
      statements.set(text, known);
    }
    return known;
  };
  const sql: Sql = {
    run(text, params = {}) {
      const { statement, values } = prepared(text);
      return Number(statement.run(...values(params)).changes);
    },
    get<T>(text: string, params: Params = {}) {
      const { statement, values } = prepared(text);
      return plain(statement.get(...values(params)) as T | undefined);
    },
    all<T>(text: string, params: Params = {}) {
      const { statement, values } = prepared(text);
      return (statement.all(...values(params)) as T[]).map(plain);
    },
    exec: (text) => db.exec(text),
  };

  function transact<T>(work: (sql: Sql) => T, durable: boolean): T {
    const wanted = durable ? 'FULL' : 'NORMAL';
    // Cannot be changed inside a transaction.
    if (level !== wanted) db.exec(syncLevel(wanted));
    level = wanted;
    prepared(BEGIN).statement.run();
    let result: T;
    try {
      result = work(sql);
      prepared(COMMIT).statement.run();
    } catch (error) {
      rollBack();
      if (error instanceof Undo) return error.result as T;
      throw error;
    }
    connection.onCommit();
    return result;
  }

  function rollBack(): void {
    try {
      db.exec(ROLLBACK);
    } catch {
      // SQLite has already rolled back by itself (a full disk, a failed COMMIT); the first error is the one to tell.
    }
  }

  /** The driver is synchronous: waiting inside it would stop the whole process, so only the pauses between tries are waited. */
  async function patiently<T>(attempt: () => T): Promise<T> {
    const givesUpAt = performance.now() + patienceMs;
    for (;;) {
      if (closed) throw new RegistryError('unreachable', `The registry ${file} was closed by this process.`);
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= givesUpAt) throw asRegistryError(error, file);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs()));
    }
  }

  const connection: Connection = {
    sql,
    read: (work) => patiently(() => work(sql)),
    write: (work, options) => patiently(() => transact(work, options?.durable ?? false)),
    exec: (text) => patiently(() => db.exec(text)),
    onCommit: () => {},
    close() {
      if (closed) return;
      closed = true;
      // @photostructure/sqlite 1.2 really lets go of the file only when its statements are collected, so they must not be kept.
      statements.clear();
      db.close();
    },
  };
  return connection;
}

interface Prepared {
  statement: Statement;
  values(params: Params): Value[];
}

/** `:name` becomes `?`, once for each time it stands there: the drivers bind by position in half the time. */
function prepare(db: Database, text: string): Prepared {
  const names: string[] = [];
  const statement = db.prepare(
    text.replace(/:(\w+)/g, (_, name: string) => {
      names.push(name);
      return '?';
    }),
  );
  const pick = (params: Params) => (name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`no value for :${name} in ${text}`);
    return value;
  };
  return { statement, values: (params) => names.map(pick(params)) };
}

/** The drivers' rows have no prototype; a caller who compares or prints one would be surprised. */
const plain = <T>(row: T): T => (row === undefined ? row : { ...row });
