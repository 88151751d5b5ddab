/** The registry's file inside its directory; SQLite puts `-wal` and `-shm` beside it. */
export const REGISTRY_FILE = 'registry.db';
