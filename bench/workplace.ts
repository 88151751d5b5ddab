// A temporary project with one job in it that a person (the bench) works on, driven by a real `stepward delegate`.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const stepwardFile = fileURLToPath(new URL('../dist/stepward.cjs', import.meta.url));

export interface Workplace {
  cwd: string;
  id: string;
  end(): Promise<void>;
}

/**
 * Resolves once the job is running, so that an emit finds a live driver.
 * @param entry more of the agent's config
 */
export async function humanJob(env: NodeJS.ProcessEnv = {}, entry: object = {}): Promise<Workplace> {
  const cwd = mkdtempSync(join(tmpdir(), 'stepward-bench-'));
  writeFileSync(join(cwd, 'stepward.config.json'), JSON.stringify({ agents: { bench: { kind: 'human', ...entry } } }));
  heard = '';
  const driver = spawn(process.execPath, [stepwardFile, 'delegate', '--agent', 'bench', '--prompt', 'bench'], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const id = await said(driver, /registered job: (\S+)/);
  await said(driver, /emit progress/);
  return {
    cwd,
    id,
    async end() {
      const gone = new Promise((resolve) => driver.once('exit', resolve));
      driver.kill('SIGINT');
      await gone;
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

let heard = '';
/** Waits until the driver has printed something that matches; gives the first group. */
function said(driver: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(heard);
      if (match) {
        driver.stderr?.off('data', hear);
        resolve(match[1] ?? match[0]);
      }
    };
    const hear = (chunk: Buffer) => {
      heard += chunk;
      look();
    };
    driver.stderr?.on('data', hear);
    driver.once('exit', (code) => reject(new Error(`delegate ended with ${code}: ${heard}`)));
    look();
  });
}
