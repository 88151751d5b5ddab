// Fresh SQLite stores, each in a directory of its own that goes with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from '../../src/kernel/ports.ts';
import type { DriverName } from '../../src/registry/sqlite/driver.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { drivenClock, type Store } from './support.ts';

export interface SqliteStore extends Store {
  dir: string;
}

export async function makeSqliteStore(driver?: DriverName): Promise<SqliteStore> {
  const dir = join(await mkdtemp(join(tmpdir(), 'stepward-registry-')), 'store');
  const clock = drivenClock();
  const opened: Registry[] = [];
  const open = async () => {
    const registry = await openSqliteRegistry({ dir, clock, ...(driver && { driver }) });
    opened.push(registry);
    return registry;
  };
  return {
    dir,
    clock,
    open,
    registry: await open(),
    async dispose() {
      for (const registry of opened) await registry.close();
      await rm(join(dir, '..'), { recursive: true });
    },
  };
}
