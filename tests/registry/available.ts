import { DRIVERS, type DriverName, loadDriver } from '../../src/registry/sqlite/driver.ts';

/** On Node 20 one of them, from 22.13 on both. */
export const available: DriverName[] = (
  await Promise.all(
    DRIVERS.map((name) =>
      loadDriver(name)
        .then((driver) => [driver.name])
        .catch(() => [] as DriverName[]),
    ),
  )
).flat();
if (available.length === 0) throw new Error('no SQLite driver to test');
