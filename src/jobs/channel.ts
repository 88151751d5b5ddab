// The channel: whether an agent can be heard on the bus. Level-triggered, as the watcher is: it speaks whenever the bus says
// something else than the row, so that neither a new driver nor a change that nobody was told of leaves the row wrong.
import type { EffectEnv } from '../kernel/context.ts';
import type { Row } from '../kernel/ports.ts';
import type { Bus } from '../signals/bus/types.ts';
import { specOf } from './spec.ts';
import type { Workshop } from './workshop.ts';

/** A hint of the bus may be missed; this poll is behind it. */
const POLL_MS = 3_000;
/** Connecting takes a moment: without this pause every job that can speak otherwise, too, would begin with `bus.lost`. */
const GRACE_MS = 3_000;
/** How often another reason is told while the bus stays away: one that alternates with each try would flood the log. */
const REASON_MS = 30_000;
/** As the machine's events allow. */
const DETAIL_MAX = 4_000;

const NO_BUS = 'no bus is configured, and this agent can speak by nothing else';
const CONNECTING = 'the first connection to the bus is being made';
const UNCONFIRMED = 'the broker has not yet confirmed that it sends us what this agent says';
/** These say nothing that would help, so whatever is known better replaces them at once. */
const PASSING: readonly string[] = [CONNECTING, UNCONFIRMED];

/**
 * Opens the ways in of this attempt. An agent that can speak by nothing but the bus must be heard there before anything is sent
 * (docs/design.md section 6); until then the row says why it is not. How long that may take is the machine's to say.
 * @throws Error where such an agent could never be heard, and what the kernel's own ways throw.
 */
export async function openWays(shop: Workshop, env: EffectEnv): Promise<void> {
  await env.openWays();
  if (!isBusOnly(await env.row())) return;
  const { bus } = shop;
  if (!bus) throw new Error(NO_BUS);
  await tellTheRow(bus, env, { graceMs: 0, untilHeard: true });
  // Only now is it certain where the broker is, and the agent must find that written before it is sent anything.
  if (!env.signal.aborted) await env.openWays();
}

/** Until the attempt is over, or returns where the bus is of no interest to it. */
export async function followBus(shop: Workshop, env: EffectEnv): Promise<void> {
  const row = await env.row();
  if (!specOf(row).ways.includes('bus')) return;
  const { bus } = shop;
  if (bus) {
    return tellTheRow(bus, env, { graceMs: isBusOnly(row) ? 0 : GRACE_MS, untilHeard: false });
  }
  if (!isBusOnly(row)) return;
  if (awayOf(row) === null) await env.report({ type: 'bus.lost', detail: NO_BUS });
  // Not returned from: what has ended is not begun again, and the next driver may have a bus.
  await aborted(env.signal);
}

interface Telling {
  /** For so long, ms, nothing is said of a bus that has not been there yet. */
  graceMs: number;
  /** Return as soon as the agent can be heard. */
  untilHeard: boolean;
}

async function tellTheRow(bus: Bus, env: EffectEnv, { graceMs, untilHeard }: Telling): Promise<void> {
  const begun = env.clock.now();
  let toldAt = begun;
  while (!env.signal.aborted) {
    const over = new AbortController();
    const signal = AbortSignal.any([env.signal, over.signal]);
    try {
      // Asked before the look: what changes between the two must not be slept through.
      const change = bus.changed(signal);
      const why = whyUnheard(bus, env.job);
      const away = awayOf(await env.row());
      const now = env.clock.now();
      if (why === null) {
        if (away !== null) await env.report({ type: 'bus.back' });
        if (untilHeard) return;
      } else if (away === null ? now >= begun + graceMs : isWorthTelling(away, why, now - toldAt)) {
        await env.report({ type: 'bus.lost', detail: why });
        toldAt = now;
      }
      await Promise.race([change, env.clock.sleep(POLL_MS, signal)]);
    } finally {
      over.abort();
    }
  }
}

/** The row knows that the bus is away, and now there is another reason. */
const isWorthTelling = (known: string, why: string, sinceMs: number): boolean =>
  why !== known && (sinceMs >= REASON_MS || (PASSING.includes(known) && !PASSING.includes(why)));

/** Null: the job's events come to us. */
function whyUnheard(bus: Bus, job: string): string | null {
  if (bus.hears(job)) return null;
  const status = bus.status();
  return status.up ? UNCONFIRMED : (status.why ?? CONNECTING).slice(0, DETAIL_MAX);
}

const isBusOnly = (row: Row): boolean => row.snapshot.context.busOnly === true;
const awayOf = (row: Row): string | null => row.snapshot.context.busAway as string | null;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
