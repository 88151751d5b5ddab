// Applies timers that have fallen due (section 4, "Time").
import { type Context, type Held, LEASE, machineOf } from './context.ts';
import { FAULT_TIMER, forceEnd } from './faults.ts';
import { handle, isFaulted, loadHeld } from './handle.ts';
import { noteRenewed, wasAsleep } from './held.ts';
import type { Row, TimerRow } from './ports.ts';

/** How long a due silence timer waits for a fresh look. A watcher that takes longer is broken, and must not keep a job from
 *  ending. */
const LOOK_LIMIT_MS = 10_000;

/** Fires what is due, one by one, the ways drained before each. Gives the time of the next one, or null. */
export async function fireDue(context: Context, held: Held, drain: () => Promise<void>): Promise<number | null> {
  for (;;) {
    const row = await loadHeld(context, held);
    if (!row || held.stop.signal.aborted) return null;
    const faulted = isFaulted(row);
    const timers = (await context.registry.timers(held.job)).filter((timer) => !faulted || timer.delay === FAULT_TIMER);
    const now = context.registry.now();
    const due = timers.filter(({ fireAt }) => fireAt <= now);
    const later = timers.filter(({ fireAt }) => fireAt > now).map(({ fireAt }) => fireAt);
    if (due.length === 0) return earliest(later);
    // A machine that slept wakes with every timer due. The renewal takes the time nobody watched out of the silence timers;
    // it must come before they are applied.
    if (wasAsleep(held, now)) {
      if (!(await renewOne(context, held))) return null;
      continue;
    }
    let first: TimerRow | null = null;
    for (const timer of due.sort((a, b) => a.fireAt - b.fireAt)) {
      const waitUntil =
        waitsForEffect(context, row, held, timer, now) ?? (await waitsForLook(context, held, timer, now));
      if (waitUntil === null) {
        first = timer;
        break;
      }
      later.push(waitUntil);
    }
    if (!first) return earliest(later);
    await drain();
    if (faulted) await closeFaulted(context, held);
    else await handle(context, held.job, { from: 'clock', timer: first });
  }
}

const earliest = (times: number[]): number | null => (times.length === 0 ? null : Math.min(...times));

async function renewOne(context: Context, held: Held): Promise<boolean> {
  const lost = await context.registry.renew(
    context.record.id,
    [{ job: held.job, epoch: held.epoch }],
    LEASE.ttlMs,
    LEASE.gapMs,
  );
  noteRenewed(held, context.registry.now());
  return lost.length === 0;
}

/** A limit on an effect speaks of the effect, not of drivers that were dead or asleep while the time ran out: each driver's own
 *  try gets the whole of it. Else a report that verifies would become invalid because nobody came to verify it. Null: nothing to
 *  wait for. */
function waitsForEffect(context: Context, row: Row, held: Held, timer: TimerRow, now: number): number | null {
  const limitMs = machineOf(context, row)?.effectLimitMs(row.spec, timer.delay) ?? 0;
  const until = held.unbrokenSince + limitMs;
  return now < until ? until : null;
}

/** Silence is only silence if somebody has looked since it fell due. Null: nothing to wait for. */
async function waitsForLook(context: Context, held: Held, timer: TimerRow, now: number): Promise<number | null> {
  if (!timer.silence || held.lookedAt >= timer.fireAt) return null;
  // By the outbox, not by what runs: a driver that has just taken over has started nothing yet.
  const watched = (await context.registry.openWork(held.job)).some(({ src }) => src === 'watch');
  if (!watched) return null;
  // Counted from when this driver asked, not from when the timer fell due: nobody may have been there then.
  const { fireAt } = timer;
  if (held.lookAsked?.for !== fireAt) held.lookAsked = { for: fireAt, at: now };
  const limit = held.lookAsked.at + LOOK_LIMIT_MS;
  if (now >= limit) return null;
  held.look.abort();
  return Math.min(limit, now + 250);
}

async function closeFaulted(context: Context, held: Held): Promise<void> {
  const row = await loadHeld(context, held);
  const definition = row && machineOf(context, row);
  if (!row || !definition) return;
  const log = { from: 'clock', what: FAULT_TIMER, verdict: 'take', driver: context.record.id } as const;
  await context.registry.commit(row, await forceEnd(context, definition, row, log));
  held.cached = null;
}
