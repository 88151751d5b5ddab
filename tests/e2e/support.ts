// Runs the built command line in a project of its own, and tells what is left behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect } from 'vitest';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const stepward = file('../../dist/stepward.cjs');
/** The same code in the tests' world: simulated time, a registry that kills its driver. */
export const stepwardUnderTest = file('../../dist-test/stepward.cjs');
export const agentFile = file('./agent.mjs');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** What it has said so far. */
  heard(): string;
  /** Resolves once stdout or stderr matches; fails if it ends before. */
  says(pattern: RegExp): Promise<string>;
  ended: Promise<Ended>;
}

export interface Options {
  bin?: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

export class Project {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-e2e-')));
  /** Every start of an agent writes a line there. */
  readonly countFile = join(this.dir, 'starts');
  private readonly children: ChildProcess[] = [];

  start(args: string[], { bin = stepward, env = {}, cwd = this.dir }: Options = {}): Running {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.children.push(child);
    let stdout = '';
    let stderr = '';
    const waiting = new Set<() => void>();
    const hear = () => {
      for (const look of waiting) look();
    };
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      hear();
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      hear();
    });
    const ended = new Promise<Ended>((resolve) =>
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
    );
    const says = (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stderr) ?? pattern.exec(stdout);
          if (!match) return;
          waiting.delete(look);
          resolve(match[1] ?? match[0]);
        };
        waiting.add(look);
        look();
        void ended.then(({ code }) =>
          reject(new Error(`ended with ${code} before saying ${pattern}: ${stderr}${stdout}`)),
        );
      });
    return { child, heard: () => stderr + stdout, says, ended };
  }

  run(args: string[], options: Options = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** A command agent that behaves so; its starts are counted. */
  agent(behaviour: string): string[] {
    return ['--', process.execPath, agentFile, behaviour, this.countFile];
  }

  delegate(behaviour: string, ...flags: string[]): string[] {
    return ['delegate', '--agent', 'command', '--prompt', 'write result.txt', ...flags, ...this.agent(behaviour)];
  }

  async status(job: string, ...flags: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.run(['status', job, '--json', ...flags]);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async log(job: string): Promise<Record<string, unknown>[]> {
    const { stdout } = await this.run(['logs', job, '--json']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  starts(): number[] {
    return existsSync(this.countFile) ? readFileSync(this.countFile, 'utf8').trim().split('\n').map(Number) : [];
  }

  /** As a person does who deletes a folder under a running driver. */
  async removeRegistry(): Promise<void> {
    rmSync(join(this.dir, '.stepward'), { recursive: true });
  }

  /** Fails if a process that belongs to this project is left. */
  async close(): Promise<void> {
    for (const child of this.children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await expect.poll(() => processesIn(this.dir), { timeout: 10_000 }).toEqual([]);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Living processes whose working directory or command line lies in the folder, as Linux tells it. */
export function processesIn(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const ours =
          realpathSync(`/proc/${pid}/cwd`).startsWith(dir) || command.includes(dir) || environment.includes(dir);
        return ours ? [`${pid} ${command}`] : [];
      } catch {
        return []; // ended between the two looks
      }
    });
}

const open: Project[] = [];
/** A project that is closed, and checked for leaks, after the test. */
export function project(): Project {
  const made = new Project();
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
});

export const registered = (text: string): string => {
  const id = /registered job: (\S+)/.exec(text)?.[1];
  if (!id) throw new Error(`no job was registered: ${text}`);
  return id;
};
