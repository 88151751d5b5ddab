// The two SQLite drivers behind one small interface. @photostructure/sqlite copies the API of node:sqlite, so only finding them
// differs; nothing else of Stepward knows which one runs.
import { createRequire } from 'node:module';
import { RegistryError } from '../errors.ts';

export type Value = null | number | string;

export interface Statement {
  run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Module {
  DatabaseSync: new (file: string, options: { timeout: number; readOnly: boolean }) => Database;
}

export const DRIVERS = Object.freeze(['node:sqlite', '@photostructure/sqlite'] as const);
export type DriverName = (typeof DRIVERS)[number];

export interface Driver {
  name: DriverName;
  open(file: string, readonly: boolean): Database;
}

/**
 * Loads a driver: node:sqlite where this Node has it, else the package.
 * @param name only this one (tests).
 * @throws RegistryError `unreachable` if there is none.
 */
export async function loadDriver(name?: DriverName): Promise<Driver> {
  const builtin = name === '@photostructure/sqlite' ? undefined : builtinModule();
  if (builtin) return adapt('node:sqlite', builtin);
  if (name !== 'node:sqlite') {
    const packaged = packagedModule();
    if (packaged) return adapt('@photostructure/sqlite', packaged);
  }
  throw new RegistryError(
    'unreachable',
    `No SQLite driver: Node ${process.versions.node} has no node:sqlite (22.13 and newer have it) and the optional package @photostructure/sqlite is not installed. Install one of them.`,
  );
}

/** busy_timeout stays 0: SQLite's own handler sleeps up to 100 ms and starves whoever is unlucky; connection.ts waits by itself. */
const adapt = (name: DriverName, { DatabaseSync }: Module): Driver => ({
  name,
  open: (file, readonly) => new DatabaseSync(file, { timeout: 0, readOnly: readonly }),
});

function builtinModule(): Module | undefined {
  const emit = process.emitWarning;
  // Node 22 prints an ExperimentalWarning while it loads the module; on an agent's terminal that would be noise in every event.
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule?.('node:sqlite') as unknown as Module | undefined;
  } finally {
    process.emitWarning = emit;
  }
}

/** By require: its ES module takes twice as long to load, and `emit` waits for it at every event. */
function packagedModule(): Module | undefined {
  try {
    return createRequire(import.meta.url)('@photostructure/sqlite') as Module;
  } catch {
    return undefined;
  }
}
