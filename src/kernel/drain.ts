// Everything that has come in by any way is decided, oldest first.
import type { Context, Held } from './context.ts';
import { handle, loadHeld } from './handle.ts';
import { collectWays } from './ways.ts';

/** One after another: the loop and an effect that drain side by side would both see a request as undecided, and decide it twice. */
export function drain(context: Context, held: Held): Promise<void> {
  const drained = held.draining.then(() => drainNow(context, held));
  held.draining = drained.catch(() => {});
  return drained;
}

async function drainNow(context: Context, held: Held): Promise<void> {
  const row = await loadHeld(context, held);
  if (!row) return;
  await collectWays(context, held, row);
  for (;;) {
    const undecided = await context.registry.undecided(held.job);
    if (undecided.length === 0) return;
    for (const { request } of undecided) {
      // Null: the row is no longer ours, or faulted; the request stays for whoever can decide it.
      if ((await handle(context, held.job, request)) === null) return;
    }
  }
}
