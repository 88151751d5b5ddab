// What a test leaves behind. Every process of a test carries the test's directory in its command line or environment, so that
// it is found even if nobody recorded its pid; it is ended by the pid and start time found.
import { readdirSync, readFileSync } from 'node:fs';
import { identify, isAlive, type ProcessIdentity, signalTo } from '../../src/transports/process.ts';
import { eventually } from './eventually.ts';

interface Found extends ProcessIdentity {
  command: string;
}

export function processesOf(dir: string): Found[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = read(`/proc/${name}/cmdline`);
      const isOurs = command.includes(dir) || read(`/proc/${name}/environ`).includes(dir);
      const identity = isOurs ? identify(Number(name)) : null;
      return identity && isAlive(identity) ? [{ ...identity, command }] : [];
    });
}

/** Gives what is still there after processes that were about to end have had their time, and ends it. */
export async function endLeftovers(dir: string): Promise<string[]> {
  await eventually(() => processesOf(dir).length === 0, 5_000).catch(() => {});
  const left = processesOf(dir);
  for (const process of left) signalTo(process, 'SIGKILL');
  return left.map(({ pid, command }) => `process ${pid}: ${command}`);
}

export const watchers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'FSEventWrap').length;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
