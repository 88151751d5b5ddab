// Brings a new or older registry file up to this build's schema, and refuses a newer one.
import { RegistryError } from '../errors.ts';
import type { Connection, Sql } from './connection.ts';
import { MIGRATIONS, READ_SCHEMA_VERSION, SCHEMA_VERSION, USE_WAL, writeSchemaVersion } from './plans.ts';

/**
 * One read where the schema is right already (every `emit` comes this way), else the missing migrations in one transaction.
 * @throws RegistryError `newer_schema`; `unreachable` for a read-only connection to what is not a registry of this schema yet.
 */
export async function prepareSchema(connection: Connection, file: string, readonly: boolean): Promise<void> {
  const found = await connection.read(schemaOf);
  refuseNewer(found, file);
  if (found === SCHEMA_VERSION) return;
  if (readonly) {
    throw new RegistryError(
      'unreachable',
      `${file} holds no registry of schema ${SCHEMA_VERSION} (found ${found}), and was opened for reading only.`,
    );
  }
  // Outside the transaction, where alone it may be changed. It stays in the file.
  await connection.exec(USE_WAL);
  await connection.write((sql) => migrate(sql, file), { durable: true });
}

/** Reads the version again: of several processes that open a new file at the same moment one migrates, the others find it done. */
function migrate(sql: Sql, file: string): void {
  const found = schemaOf(sql);
  refuseNewer(found, file);
  for (let version = found + 1; version <= SCHEMA_VERSION; version++) sql.exec(MIGRATIONS[version] ?? '');
  if (found < SCHEMA_VERSION) sql.exec(writeSchemaVersion(SCHEMA_VERSION));
}

const schemaOf = (sql: Sql): number => sql.get<{ user_version: number }>(READ_SCHEMA_VERSION)?.user_version ?? 0;

function refuseNewer(found: number, file: string): void {
  if (found <= SCHEMA_VERSION) return;
  throw new RegistryError(
    'newer_schema',
    `${file} was written by a newer Stepward (schema ${found}; this build knows up to ${SCHEMA_VERSION}). Use that version, or another registry directory.`,
  );
}
