// A lock that the system itself releases when its holder dies: an exclusive SQLite transaction on a file of its own. No pid is
// guessed and none goes stale after kill -9 (a heartbeat file would).
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { RegistryError } from '../errors.ts';
import { identityOf, makeDirectory, makePrivateFile } from './directory.ts';
import { type Database, type Driver, type DriverName, loadDriver } from './driver.ts';
import { asRegistryError, fromSystem, isBusy } from './failures.ts';
import { BEGIN_EXCLUSIVE, READ_SCHEMA_VERSION } from './plans.ts';

export interface Lock {
  /** The file at the lock's path is the one that is locked. False: somebody removed it, and the next one locks another. */
  isStill(): boolean;
  /** Idempotent. */
  release(): void;
}

/** Two that ask in the same moment stand in each other's way, and both are refused; a holder refuses every time. */
const TRIES = 4;
const pauseMs = (): number => 1 + Math.random() * 4;

/** Reachable for as long as they are held: a collected database closes itself, and two holders would run at once. */
const held = new Set<Database>();

/**
 * Takes the lock `name` of the registry in `dir`, or null: another process, or another part of this one, holds it (or, rarely,
 * several asked at once and none got it: who must not run without it asks again).
 * @param driver only this SQLite driver (tests). All who use a lock must use the same in one process.
 * @throws RegistryError `unreachable` or `full` where the file cannot be made.
 */
export async function takeLock(dir: string, name: string, driver?: DriverName): Promise<Lock | null> {
  const file = fileOf(dir, name);
  const sqlite = await loadDriver(driver);
  try {
    makeDirectory(dir);
    makePrivateFile(file);
    // A file that may not be written SQLite opens for reading only, and then every "exclusive" lock on it is granted.
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw fromSystem(error, file);
  }
  for (let tries = 1; ; tries++) {
    const database = opened(sqlite, file, { readonly: false, sql: BEGIN_EXCLUSIVE });
    if (database) return lockOf(database, file);
    if (tries === TRIES) return null;
    await new Promise((resolve) => setTimeout(resolve, pauseMs()));
  }
}

/**
 * Whether somebody holds the lock now, this process included. Makes nothing and takes nothing; one who asks for the lock in the
 * very same moment has to ask twice, which `takeLock` does.
 * @throws RegistryError `unreachable` where the file is there and cannot be read.
 */
export async function isLocked(dir: string, name: string, driver?: DriverName): Promise<boolean> {
  const file = fileOf(dir, name);
  if (!existsSync(file)) return false;
  const sqlite = await loadDriver(driver);
  const database = opened(sqlite, file, { readonly: true, sql: READ_SCHEMA_VERSION });
  database?.close();
  return database === null;
}

const fileOf = (dir: string, name: string): string => join(dir, `${name}.lock`);

/** The database once it has done that; null: it is locked. */
function opened(sqlite: Driver, file: string, use: { readonly: boolean; sql: string }): Database | null {
  let database: Database | null = null;
  try {
    database = sqlite.open(file, use.readonly);
    database.exec(use.sql);
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    throw lockError(error, file);
  }
}

/** A damaged lock is no damaged registry: it holds nothing. Not removed here, since two who did so would lock two files. */
function lockError(error: unknown, file: string): unknown {
  const known = asRegistryError(error, file);
  if (!(known instanceof RegistryError && known.code === 'corrupt')) return known;
  const sentence = `The lock ${file} is damaged (${(error as Error).message}). It holds nothing: remove it and try again.`;
  return new RegistryError('unreachable', sentence, { cause: error });
}

function lockOf(database: Database, file: string): Lock {
  held.add(database);
  const locked = identityOf(file);
  return {
    isStill: () => identityOf(file) === locked,
    release() {
      if (held.delete(database)) database.close();
    },
  };
}
