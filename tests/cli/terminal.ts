// stepward as its user has it: the bundle, as a process of its own, in a directory of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

export const STEPWARD = fileURLToPath(new URL('../../dist/stepward.cjs', import.meta.url));
const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  readonly pid: number;
  out(): string;
  err(): string;
  /** Waits until the text is on stderr or stdout; throws if the process ends without it. */
  shows(text: string | RegExp): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Stops reading its stdout, as `| head` does. */
  closeStdout(): void;
  finished: Promise<Finished>;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

export interface Desk {
  dir: string;
  start(args: string[], options?: RunOptions): Running;
  run(args: string[], options?: RunOptions): Promise<Finished>;
  /** What one `--json` object says. */
  json(args: string[]): Promise<Record<string, unknown>>;
  /** The id that the command has announced. */
  jobOf(running: Running): Promise<string>;
  /** The words that make a scripted agent of the `command` kind. */
  agent(...steps: string[]): string[];
  /** How often a scripted agent was started here. */
  starts(): number;
}

const open: { dir: string; children: Set<ChildProcess> }[] = [];

/** Ends what a failed test has left, then complains about what a passed one has left. */
afterEach(async () => {
  const leaked: string[] = [];
  for (const { dir, children } of open.splice(0)) {
    for (const child of children) {
      leaked.push(`stepward, pid ${child.pid}`);
      child.kill('SIGKILL');
    }
    for (const pid of pidsIn(dir)) {
      if (!isAgent(pid, dir)) continue;
      leaked.push(`agent, pid ${pid}`);
      process.kill(pid, 'SIGKILL');
    }
    rmSync(dir, { recursive: true, force: true });
  }
  if (leaked.length > 0) throw new Error(`left behind: ${leaked.join('; ')}`);
});

export function openDesk(): Desk {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-cli-')));
  const children = new Set<ChildProcess>();
  open.push({ dir, children });

  function start(args: string[], { input, env = {}, cwd = dir }: RunOptions = {}): Running {
    const child = spawn(process.execPath, [STEPWARD, ...args], { cwd, env: { ...environment(), ...env } });
    children.add(child);
    const text = { out: '', err: '' };
    const news = new EventTarget();
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    for (const [name, stream] of [
      ['out', child.stdout],
      ['err', child.stderr],
    ] as const) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
        news.dispatchEvent(new Event('text'));
      });
    }
    const finished = new Promise<Finished>((resolve) => {
      child.on('close', (code, signal) => {
        children.delete(child);
        resolve({ code, signal, ...text });
        news.dispatchEvent(new Event('text'));
      });
    });
    return {
      pid: child.pid!,
      out: () => text.out,
      err: () => text.err,
      async shows(wanted) {
        const matches = () => `${text.err}\n${text.out}`.match(wanted) !== null;
        while (!matches()) {
          if (!children.has(child)) throw new Error(`ended without showing ${wanted}: ${text.err}${text.out}`);
          await new Promise((resolve) => news.addEventListener('text', resolve, { once: true }));
        }
      },
      signal: (name) => void child.kill(name),
      closeStdout: () => child.stdout.destroy(),
      finished,
    };
  }

  const run: Desk['run'] = (args, options) => start(args, options).finished;
  return {
    dir,
    start,
    run,
    async json(args) {
      const { out, err } = await run([...args, '--json']);
      if (out === '') throw new Error(`no JSON: ${err}`);
      return JSON.parse(out) as Record<string, unknown>;
    },
    async jobOf(running) {
      await running.shows(/registered job: \w+\n/);
      return /registered job: (\w+)/.exec(running.err())![1]!;
    },
    agent: (...steps) => ['--', process.execPath, AGENT, '{brief}', ...steps],
    starts: () => pidsIn(dir).length,
  };
}

/** Without what a developer's shell, or a job of Stepward that runs these tests, has set. */
function environment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^(STEPWARD_|NO_COLOR|FORCE_COLOR|GIT_)/.test(name));
  return Object.fromEntries(entries);
}

function pidsIn(dir: string): number[] {
  const file = join(dir, 'starts');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
}

/** A pid may have been given away since: only our own script, in our own directory, is ours to end. */
function isAgent(pid: number, dir: string): boolean {
  try {
    process.kill(pid, 0);
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return words.includes(AGENT) && words.includes(dir);
  } catch {
    return false;
  }
}
