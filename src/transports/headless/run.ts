// The files of one run, and what they say. A run is one attempt's agent process; its directory outlives driver and launcher, so
// whoever comes later learns from it what happened.
//
//   launch.json  what to start           written by the driver, whole, before the launcher
//   started      the launcher, or void   created once: the fence. Whoever creates it starts the agent, nobody else ever does
//   child.json   the agent's process     written by the launcher right after the spawn
//   out.log, err.log                     written by the agent itself
//   exit.json    how it ended            written by the launcher
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createOnce, readJson } from '../files.ts';
import { isIdentity, isProvenGone, type ProcessIdentity, writersOf } from '../process.ts';

export interface LaunchOrder {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  /** Becomes the agent's standard input. */
  brief: string;
}

export type ExitRecord =
  /** `at`: ms since the epoch, by the system's clock. `leftovers`: processes of the run were left. */
  | { code: number | null; signal: NodeJS.Signals | null; at: number; leftovers: boolean }
  /** It never ran. */
  | { error: string; at: number };

export type Run =
  | { phase: 'fresh' }
  /** Nothing was started and nothing can be. */
  | { phase: 'void' }
  /** A launcher has the mark and has not told yet. */
  | { phase: 'starting'; launcher: ProcessIdentity }
  | { phase: 'running'; launcher: ProcessIdentity; agent: ProcessIdentity }
  /** `exit` null: launcher and agent died, and with them the exit status. `agent` null: it never ran, or nobody wrote it down. */
  | { phase: 'ended'; launcher: ProcessIdentity; agent: ProcessIdentity | null; exit: ExitRecord | null }
  /** The launcher died between the mark and child.json, and no trace of the agent is to be found. Null: the mark is damaged. */
  | { phase: 'lost'; launcher: ProcessIdentity | null };

export const fileOf = (runDir: string, name: 'launch.json' | 'started' | 'child.json' | 'exit.json') =>
  join(runDir, name);
/** Standard output, standard error. */
export const logsOf = (runDir: string): [out: string, err: string] => [
  join(runDir, 'out.log'),
  join(runDir, 'err.log'),
];

/** Never throws. */
export function readRun(runDir: string): Run {
  const mark = fileOf(runDir, 'started');
  // Asked first: it comes whole (by link). A mark that is made between a failed read and this question would pass for a damaged
  // one, and a start that failed would be called unknown.
  if (!existsSync(mark)) return { phase: 'fresh' };
  const launcher = readJson(mark);
  if (isVoid(launcher)) return { phase: 'void' };
  if (!isIdentity(launcher)) return { phase: 'lost', launcher: null };
  // Whether they live is asked before reading what they write: what a dead process has left is final.
  const launcherGone = isProvenGone(launcher);
  const early = childOf(runDir);
  const agentGone = early !== null && isProvenGone(early);
  const exit = exitOf(runDir);
  // An agent may start and end between the two reads.
  const agent = early ?? childOf(runDir);
  if (exit) return { phase: 'ended', launcher, agent, exit };
  if (agent) {
    // With the launcher alive the exit status is still to come.
    return agentGone && launcherGone
      ? { phase: 'ended', launcher, agent, exit: null }
      : { phase: 'running', launcher, agent };
  }
  if (!launcherGone) return { phase: 'starting', launcher };
  const unrecorded = findUnrecorded(runDir);
  if (unrecorded) return { phase: 'running', launcher, agent: unrecorded };
  // Only the agent writes there: it ran, and is over.
  return hasOutput(runDir) ? { phase: 'ended', launcher, agent: null, exit: null } : { phase: 'lost', launcher };
}

/** False if somebody else was first: then a launcher has started the agent, or is about to. Throws the system's error. */
export function makeVoid(runDir: string): boolean {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  return createOnce(fileOf(runDir, 'started'), JSON.stringify({ void: true }));
}

const isVoid = (mark: unknown): boolean => (mark as { void?: unknown } | null)?.void === true;

function exitOf(runDir: string): ExitRecord | null {
  const exit = readJson(fileOf(runDir, 'exit.json'));
  return typeof exit === 'object' ? (exit as ExitRecord | null) : null;
}

function childOf(runDir: string): ProcessIdentity | null {
  const child = readJson(fileOf(runDir, 'child.json'));
  return isIdentity(child) ? child : null;
}

/**
 * The launcher died between the spawn and child.json: the agent is the process that leads its group and writes our log. Written
 * down when found, so that it is still known to have run after its end.
 */
function findUnrecorded(runDir: string): ProcessIdentity | null {
  const leader = writersOf(logsOf(runDir)).find(({ pid, group }) => pid === group);
  if (!leader) return null;
  const { pid, started, host } = leader;
  try {
    createOnce(fileOf(runDir, 'child.json'), JSON.stringify({ pid, started, host }));
  } catch {
    // A full disk: it is looked for again the next time.
  }
  return { pid, started, host };
}

const hasOutput = (runDir: string): boolean =>
  logsOf(runDir).some((log) => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0);
