// A process of its own whose files may not grow: `full-disk.ts <dir>`. Prints what happened as one JSON line.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Row } from '../../../src/kernel/ports.ts';
import { RegistryError } from '../../../src/registry/errors.ts';
import { openSqliteRegistry } from '../../../src/registry/sqlite/open.ts';
import { insert, load, move, nextState } from '../support.ts';

/** A write beyond the limit fails as on a full disk: Node ignores the signal that comes with it. */
function limitFiles(bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

const [dir = ''] = process.argv.slice(2);
const registry = await openSqliteRegistry({ dir, clock: systemClock });
let row: Row = await insert(registry, 'a');
limitFiles(statSync(join(dir, 'registry.db-wal')).size + 50_000);
const next = nextState({ snapshot: { ...row.snapshot, filler: 'x'.repeat(20_000) } });
let failure: unknown;
while (failure === undefined) {
  await registry.commit(row, move({ next })).catch((error: unknown) => {
    failure = error;
  });
  if (failure === undefined) row = await load(registry, 'a');
}
const whileFull = { row: await load(registry, 'a'), entries: (await registry.log({})).length };
const again = await registry.commit(row, move({ next })).catch((error: unknown) => (error as RegistryError).code);
limitFiles('unlimited');
const withRoom = await registry.commit(row, move({ next }));
console.log(
  JSON.stringify({
    isRegistryError: failure instanceof RegistryError,
    code: (failure as RegistryError).code,
    message: (failure as RegistryError).message,
    cause: String((failure as RegistryError).cause),
    wrote: row.version > 1,
    unchanged: whileFull.row.version === row.version && whileFull.entries === row.version,
    again,
    withRoom,
    after: (await load(registry, 'a')).version - row.version,
  }),
);
await registry.close();
