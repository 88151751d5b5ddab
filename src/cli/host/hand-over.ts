// `delegate --detach`: a queued row is left to a host, which is started if none runs.
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Registry } from '../../kernel/ports.ts';
import { messageOf } from '../../kernel/trouble.ts';
import { isLocked } from '../../registry/sqlite/lock.ts';
import { watchChanges } from '../changes.ts';
import type { Context } from '../context.ts';
import { holderOf, nameOf } from '../holder.ts';
import { isEnded } from '../status.ts';
import { HOST_LOCK } from './record.ts';
import { hostLog, startHost } from './start.ts';

const PATIENCE_MS = 10_000;
/** One that loses the lock to a host which is just ending is followed by another. */
const STARTS = 3;
/** The end of a child or of a lock is no change of the registry. */
const LOOK_MS = 50;
const TAIL_BYTES = 4_096;

export type HandedOver = { driven: true; by: string | null } | { driven: false; why: string };

/** Until somebody drives the row or it has ended; at most 10 s of real time. */
export async function handOver(ctx: Context, registry: Registry, job: string): Promise<HandedOver> {
  const { dir } = await ctx.registryPlace();
  const { root, cwd } = await ctx.project();
  const changes = watchChanges(registry);
  const attempts: Attempt[] = [];
  let trouble: string | null = null;
  try {
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
      const row = await registry.load(job);
      const holder = await holderOf(registry, job);
      if (holder || (row && isEnded(row))) return { driven: true, by: holder && nameOf(holder) };
      // The lock is asked first: a child that is gone by then cannot have it.
      if (!(await isLocked(dir, HOST_LOCK)) && attempts.every(({ over }) => over !== null)) {
        if (attempts.length === STARTS) break;
        attempts.push(attempt(() => startHost(dir, root ?? cwd, ctx.io.env)));
      }
      await changes.next(AbortSignal.timeout(LOOK_MS));
    }
  } catch (error) {
    // The row is registered by now: that a lock is damaged or the disk full must not sound as if nothing had been written.
    trouble = messageOf(error);
  } finally {
    changes.close();
  }
  if (trouble !== null) return { driven: false, why: trouble };
  const failed = attempts.findLast(({ over }) => over !== null)?.over;
  const last = lastLine(hostLog(dir));
  if (!failed) return { driven: false, why: 'no host has taken it yet' };
  return { driven: false, why: `no host could be started (${failed})${last ? `; its log says: ${last}` : ''}` };
}

interface Attempt {
  /** How it came to its end; null while it runs. */
  over: string | null;
}

function attempt(start: () => ChildProcess): Attempt {
  const made: Attempt = { over: null };
  try {
    const child = start();
    child.once('error', (error) => {
      made.over = messageOf(error);
    });
    child.once('exit', (code, signal) => {
      made.over = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
    });
  } catch (error) {
    made.over = messageOf(error);
  }
  return made;
}

/** Null: there is none, or it cannot be read. */
function lastLine(file: string): string | null {
  try {
    const log = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(TAIL_BYTES);
      const from = Math.max(0, fstatSync(log).size - TAIL_BYTES);
      const text = buffer.toString('utf8', 0, readSync(log, buffer, 0, TAIL_BYTES, from)).trimEnd();
      return text.split('\n').at(-1) || null;
    } finally {
      closeSync(log);
    }
  } catch {
    return null;
  }
}
