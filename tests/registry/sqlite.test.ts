import { DRIVERS, type DriverName, loadDriver } from '../../src/registry/sqlite/driver.ts';
import { testRegistry } from './conformance.ts';
import { makeSqliteStore } from './sqlite-store.ts';

/** On Node 20 one of them, from 22.13 on both. */
const available = (
  await Promise.all(
    DRIVERS.map((name) =>
      loadDriver(name)
        .then((driver) => [driver.name])
        .catch(() => [] as DriverName[]),
    ),
  )
).flat();
if (available.length === 0) throw new Error('no SQLite driver to test');

for (const driver of available) testRegistry(`SQLite by ${driver}`, () => makeSqliteStore(driver));
