// Drivers in processes of their own (children/driver.ts), killed by the pid that was recorded.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { BusOptions } from '../../../src/signals/bus/bus.ts';
import { JOB, until } from '../world.ts';

const SCRIPT = fileURLToPath(new URL('./children/driver.ts', import.meta.url));

export interface BusProcess {
  /** It has had the lock: it runs the embedded broker, for as long as it lives. */
  holds(): boolean;
  alive(): boolean;
  /** It is connected and hears the job; asked now, not once upon a time. */
  hears(): boolean;
  warnings(): string[];
  kill(): Promise<void>;
  /** In peace. */
  stop(): Promise<void>;
}

type Said = { took?: string; hears?: string[]; warning?: string };

export function busProcess(
  registryDir: string,
  options: Pick<BusOptions, 'settings'> & Partial<Pick<BusOptions, 'presence'>>,
): BusProcess {
  const argv = ['--import', 'tsx', SCRIPT, registryDir, JSON.stringify({ ...options, jobs: [JOB] })];
  const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: Said[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line) as Said));
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  child.stdin.on('error', () => {});
  const alive = () => child.exitCode === null && child.signalCode === null;
  const end = async (act: () => void) => {
    if (!alive()) return;
    act();
    await once(child, 'exit');
  };
  const kill = () => end(() => child.kill('SIGKILL'));
  onTestFinished(kill);
  return {
    alive,
    holds: () => alive() && said.some(({ took }) => took !== undefined),
    hears() {
      if (!alive()) throw new Error(`a driver has ended by itself: ${errors}`);
      return said.findLast(({ hears }) => hears !== undefined)?.hears?.includes(JOB) === true;
    },
    warnings: () => said.flatMap(({ warning }) => (warning === undefined ? [] : [warning])),
    kill,
    stop: () => end(() => child.stdin.end()),
  };
}

export const allHear = (processes: BusProcess[]): Promise<unknown> =>
  until(() => processes.every((one) => one.hears()));
