// `host --status` and `host --stop`: about the host of this registry, wherever it was started.
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../../machines/job/exit.ts';
import { isLocked } from '../../registry/sqlite/lock.ts';
import { signalTo } from '../../transports/process.ts';
import type { Context } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { hostState } from './lock.ts';
import { HOST_LOCK, type HostRecord, nameOfHost } from './record.ts';

/** A host ends within 10 s; a little more for a busy machine. */
const STOP_MS = 15_000;
const POLL_MS = 50;

/** 0 it runs, 1 none does. */
export async function tellStatus(ctx: Context): Promise<number> {
  const { out } = ctx;
  const { dir } = await ctx.registryPlace();
  const state = await hostState(dir);
  const record = state.running ? state.record : null;
  const drives = record ? await drivenBy(ctx, record) : [];
  if (out.json) {
    const { pid = null, name = null, since = null, build = null } = record ?? {};
    out.object({ running: state.running, pid, host: name, since, build, registry: dir, drives });
  } else if (!state.running) out.print(`no host runs for ${dir}`);
  else {
    out.print(`host of ${dir}: ${record ? nameOfHost(record) : 'runs, but does not say who it is'}`);
    out.print(drives.length === 0 ? 'drives nothing' : `drives ${drives.join(', ')}`);
  }
  return state.running ? EXIT.ok : EXIT.failed;
}

async function drivenBy(ctx: Context, { pid, started, host }: HostRecord): Promise<string[]> {
  const registry = await ctx.registry();
  const open = (await registry?.openRows()) ?? [];
  const isIts = (driver: (typeof open)[number]['driver']) =>
    driver?.pid === pid && driver.started === started && driver.host === host;
  return open.filter(({ driver, expiresAt }) => isIts(driver) && expiresAt > registry!.now()).map(({ id }) => id);
}

/** 0 none runs any more, 1 it did not end in time. Throws RefusedError where it cannot be reached from here. */
export async function stopHost(ctx: Context): Promise<number> {
  const { out } = ctx;
  const { dir } = await ctx.registryPlace();
  const state = await hostState(dir);
  const told = (stopped: boolean, pid: number | null, sentence: string): number => {
    if (out.json) out.object({ stopped, pid, registry: dir });
    else out.print(sentence);
    return stopped ? EXIT.ok : EXIT.failed;
  };
  if (!state.running) {
    if (out.json) out.object({ stopped: false, pid: null, registry: dir });
    else out.print(`no host runs for ${dir}`);
    return EXIT.ok;
  }
  const { record } = state;
  if (!record) throw new RefusedError(`a host of ${dir} runs, but does not say who it is; nothing was done`);
  // The start time is compared right before: the pid may have been given to a stranger.
  if (!signalTo(record, 'SIGTERM') && (await isLocked(dir, HOST_LOCK))) {
    throw new RefusedError(`the host of ${dir}, ${nameOfHost(record)}, cannot be reached from here; stop it there`);
  }
  for (const until = performance.now() + STOP_MS; performance.now() < until; ) {
    if (!(await isLocked(dir, HOST_LOCK))) return told(true, record.pid, `stopped ${nameOfHost(record)}`);
    await sleep(POLL_MS);
  }
  return told(false, record.pid, `${nameOfHost(record)} was asked to stop and has not ended yet`);
}
