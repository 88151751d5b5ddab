// A level-triggered wake-up: a poke while nobody waits is kept for the next wait, so that no news is slept over.
import type { Clock } from './ports.ts';

export interface Poke {
  poke(): void;
  /** Until poked, or `ms` are over, or the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createPoke(clock: Clock): Poke {
  let poked = false;
  let waiting: AbortController | null = null;
  return {
    poke() {
      poked = true;
      waiting?.abort();
    },
    async wait(ms, signal) {
      if (!poked && !signal.aborted) {
        waiting = new AbortController();
        await clock.sleep(ms, AbortSignal.any([waiting.signal, signal]));
        waiting = null;
      }
      poked = false;
    },
  };
}
