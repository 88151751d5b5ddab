// From a directory to a registry. `stepward emit` comes through here once per event, so a registry that is already there costs
// one statement.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Registry } from '../../kernel/ports.ts';
import { RegistryError } from '../errors.ts';
import { connect } from './connection.ts';
import { makeDirectory, makePrivateFile } from './directory.ts';
import { type DriverName, loadDriver } from './driver.ts';
import { asRegistryError, fromSystem } from './failures.ts';
import { refuseNetworkFs } from './file-system.ts';
import { REGISTRY_FILE } from './files.ts';
import { createRegistry } from './registry.ts';
import { prepareSchema } from './schema.ts';

export interface SqliteOptions {
  /** Absolute. Made with mode 0700 if it is not there; the file in it gets 0600: it holds the attempts' keys. */
  dir: string;
  clock: Clock;
  /** Makes nothing, migrates nothing; every writing method throws `unreachable`. */
  readonly?: boolean;
  /** Only this driver (tests, doctor). */
  driver?: DriverName;
  /** How long a call waits for other processes, ms. Default 10 s. */
  patienceMs?: number;
}

/**
 * Opens the registry of a directory, and makes or migrates it first where needed.
 * @throws RegistryError `unreachable`, `network_fs`, `newer_schema`, `corrupt`, `full`, `busy`.
 */
export async function openSqliteRegistry(options: SqliteOptions): Promise<Registry> {
  const { dir, clock, readonly = false, driver: wanted, patienceMs } = options;
  const file = join(dir, REGISTRY_FILE);
  prepareDirectory(dir, file, readonly);
  const driver = await loadDriver(wanted);
  const connection = connect(openFile(), file, patienceMs);
  try {
    await prepareSchema(connection, file, readonly);
  } catch (error) {
    connection.close();
    throw error;
  }
  return createRegistry(connection, clock, dir);

  function openFile() {
    try {
      return driver.open(file, readonly);
    } catch (error) {
      throw asRegistryError(error, file);
    }
  }
}

function prepareDirectory(dir: string, file: string, readonly: boolean): void {
  try {
    if (!readonly) makeDirectory(dir);
    refuseNetworkFs(dir, statfsSync(dir));
    if (!readonly) makePrivateFile(file);
    refuseOtherKinds(file);
  } catch (error) {
    throw error instanceof RegistryError ? error : fromSystem(error, dir);
  }
}

/** SQLite would wait for ever for the writer of a FIFO. */
function refuseOtherKinds(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === false) throw new RegistryError('unreachable', `The registry ${file} is not a regular file.`);
}
