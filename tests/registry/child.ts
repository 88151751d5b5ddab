// Starts this suite's child scripts and sees to it that none outlives its test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child {
  process: ChildProcess;
  /** Complete lines of its stdout so far. */
  lines: string[];
  /** Exit code or signal, once its output is complete. */
  ended: Promise<number | string | null>;
  stderr(): string;
}

export function startChild(script: string, ...args: string[]): Child {
  const file = fileURLToPath(new URL(`./children/${script}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string | null);
  return { process: child, lines, ended, stderr: () => errors };
}

/** Ends what is left of them, by the processes we started, and waits until they are gone. */
export async function endChildren(children: Child[]): Promise<void> {
  for (const { process } of children.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
}
