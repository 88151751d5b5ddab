// A process of its own that writes to a registry: `writer.ts <dir> <job> <name> <count>`. Commits compare-and-sets until `count`
// of them have won, and prints each one after it was acknowledged.
import { writeSync } from 'node:fs';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openSqliteRegistry } from '../../../src/registry/sqlite/open.ts';
import { entry, insert, load, move } from '../support.ts';

const [dir = '', job = '', name = '', count = ''] = process.argv.slice(2);
const registry = await openSqliteRegistry({ dir, clock: systemClock });
// Whoever comes first makes the row.
await insert(registry, job).catch((error: { code?: string }) => {
  if (error.code !== 'duplicate_id') throw error;
});
for (let done = 0; done < Number(count); ) {
  const row = await load(registry, job);
  if (!(await registry.commit(row, move({ log: entry({ data: `${name} ${done}` }) })))) continue;
  // Not console.log: a line that waits in this process would be lost with it.
  writeSync(1, `${name} ${done}\n`);
  done += 1;
}
await registry.close();
