// Waits for jobs that others drive.
import { EXIT } from '../../machines/job/exit.ts';
import type { Registry } from '../kernel/ports.ts';
import { watchChanges } from './changes.ts';
import type { Context } from './context.ts';
import { RefusedError } from './errors.ts';
import { follow } from './follow.ts';
import { holderOf } from './holder.ts';
import { watchInterrupts } from './interrupts.ts';
import { printResult } from './result.ts';
import { isEnded } from './status.ts';
import { worst } from './worst.ts';

/** As long as a lease lasts: a driver that is just taking over has shown itself by then. */
const UNDRIVEN_LIMIT_MS = 15_000;

/** The worst exit code; 130 if interrupted, which changes nothing; 4 where nobody drove a job for `undrivenMs`, since no clock
 *  of that job runs then and waiting could last for ever. */
export async function waitForJobs(
  ctx: Context,
  registry: Registry,
  jobs: readonly string[],
  undrivenMs = UNDRIVEN_LIMIT_MS,
): Promise<number> {
  const interrupts = watchInterrupts();
  const shown = new AbortController();
  const showing = follow(ctx, registry, jobs, shown.signal);
  try {
    const stop = AbortSignal.any([interrupts.signal, shown.signal]);
    const codes = await Promise.all(jobs.map((job) => waitFor(ctx, registry, job, stop, undrivenMs)));
    if (!interrupts.signal.aborted) return worst(codes);
    ctx.out.say(`no longer waiting; nothing was changed (again: stepward wait ${jobs.join(' ')})`);
    return EXIT.interrupted;
  } finally {
    shown.abort();
    await showing.catch(() => {});
    interrupts.close();
  }
}

async function waitFor(
  ctx: Context,
  registry: Registry,
  job: string,
  signal: AbortSignal,
  undrivenMs: number,
): Promise<number> {
  const changes = watchChanges(registry);
  let undrivenSince: number | null = null;
  try {
    for (;;) {
      const row = await registry.load(job);
      if (!row) throw new RefusedError(`job ${job} is gone from the registry`);
      if (isEnded(row)) return await printResult(ctx, registry, row);
      if (signal.aborted) return EXIT.interrupted;
      if (await holderOf(registry, job)) undrivenSince = null;
      else if (undrivenSince === null) {
        undrivenSince = performance.now();
        ctx.out.say(`no live driver holds ${job}; to drive it: stepward resume ${job}`);
      } else if (performance.now() - undrivenSince > undrivenMs) {
        ctx.out.say(`${job} is still open and nobody drives it: gave up waiting`);
        return EXIT.refused;
      }
      await changes.next(signal);
    }
  } finally {
    changes.close();
  }
}
