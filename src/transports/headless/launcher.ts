// `node launcher.mjs <runDir>`: starts one agent and stays until it ends, so that the exit status outlives the driver. A bundle
// entry of its own with node builtins only, since it runs beside every agent. It may be killed between any two lines: everything
// after the mark is told by files, and nobody starts a second agent.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { createOnce, writeWhole } from '../files.ts';
import { groupExists, identify, type ProcessIdentity, writersOf } from '../process.ts';
import { type ExitRecord, fileOf, type LaunchOrder, logsOf } from './run.ts';

const RETRY_MS = 1_000;
const RETRIES = 60;

// A terminal that closes or a tidy shutdown of the driver is not the agent's end: its exit status must still be written.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => {});

const runDir = process.argv[2];
if (runDir === undefined) {
  console.error('usage: node launcher.mjs <run directory>');
  process.exitCode = 64;
} else {
  await main(runDir);
}

async function main(dir: string): Promise<void> {
  const self = identify(process.pid);
  if (!self) throw new Error('the start time of this process cannot be read');
  // The fence comes first. Whoever finds it taken starts nothing: the agent was started already, or the run is void.
  if (!createOnce(fileOf(dir, 'started'), JSON.stringify(self))) return;
  const agent = await start(dir).catch((error: Error) => error);
  if (agent instanceof Error) return tell(dir, { error: agent.message, at: Date.now() });
  const ended = new Promise<Pick<ChildProcess, 'exitCode' | 'signalCode'>>((resolve) => {
    agent.process.once('exit', (exitCode, signalCode) => resolve({ exitCode, signalCode }));
  });
  await persist(fileOf(dir, 'child.json'), agent.identity);
  const { exitCode, signalCode } = await ended;
  await tell(dir, {
    code: exitCode,
    signal: signalCode,
    at: Date.now(),
    leftovers: groupExists(agent.identity.pid) || writersOf(logsOf(dir)).length > 0,
  });
}

async function start(dir: string): Promise<{ process: ChildProcess; identity: ProcessIdentity }> {
  const { argv, cwd, env, brief } = JSON.parse(readFileSync(fileOf(dir, 'launch.json'), 'utf8')) as LaunchOrder;
  const [command = '', ...args] = argv;
  const files = [openSync(brief, 'r'), ...logsOf(dir).map((log) => openSync(log, 'a', 0o600))];
  try {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: files });
    if (child.pid !== undefined) {
      const identity = identify(child.pid);
      if (identity) return { process: child, identity };
      // A process that cannot be told from its pid's next owner could never be ended.
      process.kill(-child.pid, 'SIGKILL');
      throw new Error(`the start time of the agent (pid ${child.pid}) cannot be read; it was killed at once`);
    }
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    // ENOENT names the command whichever of the two is missing.
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`no working directory ${cwd}`);
    throw error;
  } finally {
    // The agent has its own; ours would count as a writer of its log.
    for (const file of files) closeSync(file);
  }
}

function tell(dir: string, record: ExitRecord): Promise<void> {
  return persist(fileOf(dir, 'exit.json'), record);
}

/** A full disk may have room again: a record that is given up leaves an agent whose process or end nobody knows. */
async function persist(path: string, value: ProcessIdentity | ExitRecord): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return writeWhole(path, JSON.stringify(value));
    } catch (error) {
      if (tries === RETRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
