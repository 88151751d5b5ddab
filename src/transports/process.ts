// Which process is meant, and whether it still lives. A pid alone is reused: the start time belongs to it, and so does the host
// on which both were read.
import { statSync } from 'node:fs';
import type { DriverRecord } from '../kernel/ports.ts';
import { codeOf } from './files.ts';
import { hostIdentity, parseHost } from './host.ts';
import { everyProcess, see } from './process-table.ts';

export interface ProcessIdentity {
  pid: number;
  /** As the system tells it; compared, never computed with. */
  started: string;
  /** hostIdentity() of whoever read the two. */
  host: string;
}

export function identify(pid: number): ProcessIdentity | null {
  const seen = see(pid);
  return seen === null || seen === 'unreadable' ? null : { pid, started: seen.started, host: hostIdentity() };
}

/** What is read from a file may be anything: `kill(-1)` would end every process of the user. */
export function isIdentity(value: unknown): value is ProcessIdentity {
  const { pid, started, host } = (value ?? {}) as Partial<ProcessIdentity>;
  return Number.isInteger(pid) && (pid as number) > 1 && typeof started === 'string' && typeof host === 'string';
}

/** Seen with its start time, here and now. What this says yes to may be sent a signal. */
export function isAlive(process: ProcessIdentity): boolean {
  if (process.host !== hostIdentity()) return false;
  const seen = see(process.pid);
  return seen !== null && seen !== 'unreadable' && !seen.zombie && seen.started === process.started;
}

/** True only if it can be proven: an older boot of this machine, or, in this very pid namespace, no such pid, a zombie, or a
 *  pid that was given to another process since. A process that cannot be seen from here counts as living. */
export function isProvenGone(process: ProcessIdentity, from = hostIdentity()): boolean {
  const there = parseHost(process.host);
  const here = parseHost(from);
  if (there.machine === '' || there.boot === '' || there.machine !== here.machine) return false;
  if (there.boot !== here.boot) return here.boot !== '';
  if (there.pids === '' || there.pids !== here.pids) return false;
  const seen = see(process.pid);
  if (seen === 'unreadable') return false;
  return seen === null || seen.zombie || seen.started !== process.started;
}

/** Design section 4: only such a driver may be replaced before its lease is over. */
export const isProvenDead = (driver: DriverRecord, self: DriverRecord): boolean => isProvenGone(driver, self.host);

export function selfRecord(id: string, build: string): DriverRecord {
  const self = identify(process.pid);
  if (!self)
    throw new Error(`the start time of this process (pid ${process.pid}) cannot be read: neither /proc nor ps works`);
  return { id, build, ...self };
}

/**
 * Living processes of the group that this process leads or led. A leader's pid is not given away while its group lives: if it
 * belongs to another process now, the group is over.
 */
export function groupMembers(leader: ProcessIdentity): ProcessIdentity[] {
  const host = hostIdentity();
  if (leader.host !== host) return [];
  const seen = see(leader.pid);
  if (seen === 'unreadable' || (seen && seen.started !== leader.started) || !groupExists(leader.pid)) return [];
  return everyProcess()
    .filter(({ group, zombie }) => group === leader.pid && !zombie)
    .map(({ pid, started }) => ({ pid, started, host }));
}

/** Zombies count here: the number is still taken. */
export function groupExists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Living processes whose standard output or error is one of these files. Linux only: elsewhere nothing is found. */
export function writersOf(paths: string[]): (ProcessIdentity & { group: number })[] {
  if (process.platform !== 'linux') return [];
  const files = new Set(paths.map(fileOf).filter((file) => file !== null));
  if (files.size === 0) return [];
  const host = hostIdentity();
  return everyProcess()
    .filter(({ pid, zombie, group }) => {
      const isKernelThread = group === 0;
      return !zombie && !isKernelThread && [1, 2].some((fd) => files.has(fileOf(`/proc/${pid}/fd/${fd}`) ?? ''));
    })
    .map(({ pid, started, group }) => ({ pid, started, group, host }));
}

/** Sends a signal to a process that was looked at right before. False: not sent. */
export const signalTo = (target: ProcessIdentity, signal: NodeJS.Signals): boolean =>
  isAlive(target) && send(target.pid, signal);

/** Sends a signal to the group that this process leads or led. False: nobody of it is left. */
export const signalGroup = (leader: ProcessIdentity, signal: NodeJS.Signals): boolean =>
  groupMembers(leader).length > 0 && send(-leader.pid, signal);

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Gone in between, or not ours to signal: whoever looks next sees which.
    return false;
  }
}

function fileOf(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat ? `${stat.dev}/${stat.ino}` : null;
  } catch {
    return null;
  }
}
