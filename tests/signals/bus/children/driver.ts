// A process with a registry and its bus, and nothing else of a driver. Says on stdout what happens to it; ends when it is told to
// (stdin closes), or killed.
import { systemClock } from '../../../../src/kernel/clock.ts';
import { takeLock } from '../../../../src/registry/sqlite/lock.ts';
import { openSqliteRegistry } from '../../../../src/registry/sqlite/open.ts';
import { type BusOptions, createBus } from '../../../../src/signals/bus/bus.ts';

const [registryDir = '', options = '{}'] = process.argv.slice(2);
const {
  settings,
  presence,
  jobs = [],
} = JSON.parse(options) as Pick<BusOptions, 'settings' | 'presence'> & {
  jobs?: string[];
};
const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

const registry = await openSqliteRegistry({ dir: registryDir, clock: systemClock });
const bus = createBus({
  settings,
  registryDir,
  registry,
  ...(presence && { presence }),
  warn: (warning) => say({ warning }),
  async takeLock(dir, name) {
    const lock = await takeLock(dir, name);
    if (lock) say({ took: name });
    return lock;
  },
});
for (const job of jobs) bus.follow(job, () => say({ news: job }));
const stopping = new AbortController();
process.stdin.on('end', () => stopping.abort()).resume();
while (!stopping.signal.aborted) {
  await bus.changed(stopping.signal);
  say({ up: bus.status().up, hears: jobs.filter(bus.hears), generation: bus.generation() });
}
await bus.stop();
await registry.close();
