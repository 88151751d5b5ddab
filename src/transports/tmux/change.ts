// Waits until a pane may look different from the last look.
import type { Place } from '../transport.ts';
import type { Parts } from './parts.ts';

export async function change(parts: Parts, place: Place, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([parts.clock.sleep(ms, either), parts.pulse.change(place.target, either)]);
  } finally {
    over.abort();
  }
}
