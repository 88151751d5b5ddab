// Starts the agent once. The step in the registry says who may; the mark `started` in the run directory is what makes it once:
// a launcher that finds it does nothing. So where a former driver may have died anywhere, the launcher is simply started again.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { Delivery } from '../../../machines/job/setup.ts';
import { writeWhole } from '../files.ts';
import type { Hand, Place } from '../transport.ts';
import { type Parts, realSleep } from './parts.ts';
import { fileOf, type LaunchOrder, makeVoid, readRun } from './run.ts';

/** From the act to its traces in the run directory. Longer than a start takes, since two hundred may start at once. */
const START_MS = 30_000;
/** A launcher that cannot even make its mark will not at the third time either. */
const LAUNCHES = 3;
const POLL_MS = 10;
/** One small file and one process. */
const ACT_MS = 5_000;

interface Launched {
  over: boolean;
}

export async function inject(parts: Parts, place: Place, hand: Hand): Promise<Delivery> {
  const step = await hand.inspect('spawn');
  if (step.state === 'withheld') return 'rejected';
  if (step.state !== 'not-started') return attach(parts, place, hand, null);
  const acted: { launched: Launched | null } = { launched: null };
  const outcome = await hand.once({
    name: 'spawn',
    may: () => parts.marks.isNewest(place.target, hand.fence),
    act: () => {
      acted.launched = launch(parts, place, hand);
    },
    limitMs: ACT_MS,
  });
  if (outcome === 'withheld') return 'rejected';
  return outcome === 'lost' ? 'unknown' : attach(parts, place, hand, acted.launched);
}

/** Waits until the run directory tells, at most START_MS; helps along while nobody has the mark. */
async function attach(parts: Parts, place: Place, hand: Hand, first: Launched | null): Promise<Delivery> {
  const end = performance.now() + START_MS;
  let launched = first;
  let launches = first ? 1 : 0;
  while (!hand.signal.aborted) {
    const run = readRun(place.runDir);
    if (run.phase === 'running') return 'accepted';
    if (run.phase === 'ended') return run.exit && 'error' in run.exit ? 'rejected' : 'accepted';
    if (run.phase === 'void') return 'rejected';
    // The agent may have run and gone, unrecorded.
    if (run.phase === 'lost') return 'unknown';
    const isLate = performance.now() >= end;
    if (run.phase === 'starting' && isLate) return 'unknown';
    if (run.phase === 'fresh' && (!launched || launched.over || isLate)) {
      if (!parts.marks.isNewest(place.target, hand.fence)) return 'unknown';
      // Made void, the run proves that nothing was started: then the job may be dispatched again without thinking.
      if (isLate || launches >= LAUNCHES) makeVoid(place.runDir);
      else launched = launch(parts, place, hand);
      launches += 1;
    }
    await realSleep(POLL_MS);
  }
  return 'unknown';
}

/** Null: the fence is no longer the session's, nothing was done. */
function launch(parts: Parts, place: Place, hand: Hand): Launched | null {
  const { runDir, argv, cwd, env, brief } = place;
  // A function: in a string `$$` and `$&` would mean something, and the path may have them.
  const order: LaunchOrder = { argv: argv.map((word) => word.replaceAll('{brief}', () => brief)), cwd, env, brief };
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  if (!parts.marks.isNewest(place.target, hand.fence)) return null;
  writeWhole(fileOf(runDir, 'launch.json'), JSON.stringify(order));
  const child = spawn(process.execPath, [parts.launcher, runDir], {
    // It must not keep a directory of the user's busy, and needs nothing of the driver's environment.
    cwd: '/',
    env: {},
    detached: true,
    stdio: 'ignore',
  });
  const launched = { over: false };
  const note = () => {
    launched.over = true;
  };
  child.once('error', note).once('exit', note);
  child.unref();
  return launched;
}
