import { available } from './available.ts';
import { testRegistry } from './conformance.ts';
import { makeSqliteStore } from './sqlite-store.ts';

for (const driver of available) testRegistry(`SQLite by ${driver}`, () => makeSqliteStore(driver));
