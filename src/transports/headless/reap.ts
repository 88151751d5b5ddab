// Stops what a run started. Every signal goes to a process that was looked at right before: its pid alone may be another's by now.
import { isAlive, type ProcessIdentity, signalGroup, signalTo } from '../process.ts';
import type { Fence, Place } from '../transport.ts';
import { membersOf } from './members.ts';
import { type Parts, until } from './parts.ts';
import { makeVoid, readRun } from './run.ts';

/** A launcher tells within milliseconds what it did, and ends within milliseconds after its agent. */
const LAUNCHER_MS = 2_000;
const KILL_MS = 5_000;
const AGAIN_MS = 1_000;

/** Asks the agent's process group to end. */
export function interrupt(parts: Parts, place: Place, fence: Fence): void {
  const run = readRun(place.runDir);
  if (run.phase !== 'running' || !parts.marks.isNewest(place.target, fence)) return;
  if (isAlive(run.agent)) signalGroup(run.agent, 'SIGTERM');
}

/** Ends every process of the run and makes sure that none can start any more. Real time, at most about 15 s. */
export async function reap(parts: Parts, place: Place, fence: Fence): Promise<void> {
  const mayAct = () => parts.marks.isNewest(place.target, fence);
  if (!mayAct()) return;
  if (makeVoid(place.runDir)) return;
  await until(() => readRun(place.runDir).phase !== 'starting', LAUNCHER_MS);
  const begun = readRun(place.runDir);
  // Only a dead launcher starts nothing any more; whatever it did start is found by its log.
  if (begun.phase === 'starting' && !(await killLauncher(begun.launcher, mayAct))) return;
  if (!(await endMembers(parts, place.runDir, mayAct))) return;
  const { launcher } = { launcher: null, ...readRun(place.runDir) };
  if (!launcher) return;
  // It is about to write the exit status; only one that hangs is killed.
  if (!(await until(() => !isAlive(launcher), LAUNCHER_MS))) await killLauncher(launcher, mayAct);
}

async function killLauncher(launcher: ProcessIdentity, mayAct: () => boolean): Promise<boolean> {
  if (!mayAct()) return false;
  signalTo(launcher, 'SIGKILL');
  return until(() => !isAlive(launcher), KILL_MS);
}

/** True: none is left. Members that survive even SIGKILL are left to the next look, with the launcher that waits for them. */
async function endMembers(parts: Parts, runDir: string, mayAct: () => boolean): Promise<boolean> {
  const begun = performance.now();
  for (;;) {
    const { leader, group, strays } = membersOf(runDir, readRun(runDir));
    const members = [...group, ...strays];
    if (members.length === 0) return true;
    const elapsed = performance.now() - begun;
    if (elapsed > parts.termMs + KILL_MS || !mayAct()) return false;
    const isGentle = elapsed < parts.termMs;
    const signal = isGentle ? 'SIGTERM' : 'SIGKILL';
    if (leader) signalGroup(leader, signal);
    for (const stray of strays) signalTo(stray, signal);
    await until(() => !members.some(isAlive), isGentle ? parts.termMs - elapsed : AGAIN_MS);
  }
}
