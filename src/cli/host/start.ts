// Starts a host that outlives this process and its terminal.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { entryFile } from '../../jobs/installation.ts';

/** Long enough for the next `--detach` to find it, short enough not to stay after the work. */
const UNTIL_IDLE = '60s';

export const hostLog = (dir: string): string => join(dir, 'host.log');

/**
 * A session of its own, so that no terminal hangs it up; its lines go to `host.log` beside the registry. Throws the system's error
 * where the log cannot be opened; a process that cannot be started is told by the child's `error`.
 * @param dir of the registry, absolute. @param cwd of the project: the host reads its config.
 */
export function startHost(dir: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  const log = openSync(hostLog(dir), 'a', 0o600);
  try {
    const words = [entryFile(), 'host', '--until-idle', UNTIL_IDLE, '--registry', dir, '--json'];
    const child = spawn(process.execPath, words, { cwd, env, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}
