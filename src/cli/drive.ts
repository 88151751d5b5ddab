// Stays with jobs that this process drives until they have ended and are cleaned up; used by delegate and resume.
import { EXIT } from '../../machines/job/exit.ts';
import type { Engine } from '../jobs/engine.ts';
import { specOf } from '../jobs/spec.ts';
import type { Registry, Row } from '../kernel/ports.ts';
import { watchChanges } from './changes.ts';
import type { Context } from './context.ts';
import { follow } from './follow.ts';
import { needsDriver } from './holder.ts';
import { watchInterrupts } from './interrupts.ts';
import { printResult } from './result.ts';
import { isEnded } from './status.ts';
import { worst } from './worst.ts';

/** How often a row that this process does not drive any more is asked for. */
const DRIVE_AGAIN_MS = 1_000;
/** Longer than a cleanup may take before its session is quarantined; one that fails again and again is left to `resume`. */
const CLEANUP_PATIENCE_MS = 150_000;

/** Exit code of the worst job, or 130. */
export async function driveToEnd(ctx: Context, engine: Engine, jobs: readonly string[]): Promise<number> {
  const interrupts = watchInterrupts();
  const shown = new AbortController();
  const showing = follow(ctx, engine.registry, jobs, shown.signal);
  try {
    const codes = await Promise.all(jobs.map((job) => toEnd(ctx, engine, job, interrupts.signal)));
    shown.abort();
    await showing;
    if (!interrupts.signal.aborted) return worst(codes.map((code) => code ?? EXIT.failed));
    for (const job of jobs) await interrupt(ctx, engine, job);
    return EXIT.interrupted;
  } finally {
    shown.abort();
    await showing.catch(() => {});
    interrupts.close();
  }
}

/** Null: interrupted before the end. */
async function toEnd(ctx: Context, engine: Engine, job: string, signal: AbortSignal): Promise<number | null> {
  const over = new AbortController();
  const driving = keepDriving(engine, job, AbortSignal.any([over.signal, signal]));
  try {
    const row = await engine.ended(job, signal);
    if (!row) return null;
    const exit = await printResult(ctx, engine.registry, row);
    await cleanedUp(ctx, engine, row, signal);
    return exit;
  } finally {
    over.abort();
    await driving;
  }
}

/** Another driver may have taken the row over while this process slept, and may be gone again: then it is ours once more. */
async function keepDriving(engine: Engine, job: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await engine.clock.sleep(DRIVE_AGAIN_MS, signal);
    if (signal.aborted || engine.driver.held().includes(job)) continue;
    // Does nothing while somebody live holds it; one that has ended and is cleaned up is nobody's. Trouble with the registry is told
    // by the driver itself.
    const row = await engine.registry.load(job).catch(() => undefined);
    if (row && needsDriver(row) && !signal.aborted) await engine.driver.adopt(job).catch(() => false);
  }
}

/** Until the session is free; one that stays dirty is quarantined, and then it is told and left to `resume`. */
async function cleanedUp(ctx: Context, engine: Engine, row: Row, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([stop.signal, signal]);
  const quarantined = quarantineOf(engine.registry, row, either);
  const cleaned = engine.cleanedUp(row.id, either);
  const patience = engine.clock.sleep(CLEANUP_PATIENCE_MS, either).then(() => 'late' as const);
  const first = await Promise.race([cleaned, quarantined, patience]);
  stop.abort();
  if (first === 'late' && !signal.aborted)
    ctx.out.say(`not cleaned up yet; to go on cleaning: stepward resume ${row.id}`);
  const reason = await quarantined;
  if (reason === null) return;
  ctx.out.say(`session ${row.session} is quarantined: ${reason}`);
  ctx.out.say(`it is given to nobody until it is clean; to go on cleaning: stepward resume ${row.id}`);
}

async function quarantineOf(registry: Registry, row: Row, signal: AbortSignal): Promise<string | null> {
  const changes = watchChanges(registry);
  try {
    while (!signal.aborted) {
      const session = await registry.sessionRow(row.session);
      if (session?.job === row.id && session.quarantine !== null) return session.quarantine;
      await changes.next(signal);
    }
    return null;
  } finally {
    changes.close();
  }
}

/** Undelivered: cancelled. Delivered: the agent may go on, somebody else may drive the row (design section 5). */
async function interrupt(ctx: Context, engine: Engine, job: string): Promise<void> {
  const { out } = ctx;
  const row = await engine.registry.load(job);
  if (!row || (isEnded(row) && row.cleanup !== 'open')) return;
  if (isEnded(row)) return out.say(`${job} has ended, but is not cleaned up yet: stepward resume ${job}`);
  const done = await engine.interrupt(job);
  // It ended in the same moment; its result is in the row.
  if (done === 'ended') return out.say(`${job} has ended: stepward status ${job}`);
  if (done === 'cancelled') return out.say(`${job} is cancelled; nothing had been sent`);
  if (done === 'stopped') {
    out.say(`${job}: its agent was stopped; what it has done so far lies in ${specOf(row).cwd}`);
    out.say(`  to end the job and see its end: stepward resume ${job}, then stepward redispatch ${job} to try again`);
    return out.say(`  or, as your own decision:        stepward cancel ${job}`);
  }
  out.say(`${job} is released and goes on without this process`);
  out.say(`  drive it again: stepward resume ${job}`);
  out.say(`  or end it:      stepward cancel ${job}`);
}
