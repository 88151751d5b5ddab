// lock.ts DIR DRIVER hold          takes the lock, says `held` or `refused`, stays
// lock.ts DIR DRIVER contend N     takes and releases it until it has won N times; says `overlap` if it was not alone with it
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DriverName } from '../../../src/registry/sqlite/driver.ts';
import { takeLock } from '../../../src/registry/sqlite/lock.ts';

const [dir = '', driver, what, wins] = process.argv.slice(2);
const take = () => takeLock(dir, 'host', driver as DriverName);

/** What is not reachable any more goes away now, as it would some time in a long life. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 5; i++) {
    collect();
    await sleep(1);
  }
}

if (what === 'hold') {
  const mine = (await take()) !== null;
  await collectGarbage();
  console.log(mine ? 'held' : 'refused');
  if (mine) setInterval(() => {}, 60_000);
} else {
  for (let won = 0; won < Number(wins); ) {
    const lock = await take();
    if (!lock) {
      await sleep(1);
      continue;
    }
    won++;
    try {
      closeSync(openSync(join(dir, 'inside'), 'wx'));
      await sleep(1);
      rmSync(join(dir, 'inside'));
    } catch {
      console.log('overlap');
    }
    lock.release();
    await sleep(Math.random() * 4);
  }
  console.log('done');
}
