// Waiting for news of the registry without being late: the change hint wakes at once, a slow poll stands behind it, since a hint
// may be lost (docs/design.md section 4, step 5).
import type { Registry } from '../kernel/ports.ts';

const POLL_MS = 1_000;

export interface Changes {
  /** Resolves after the next change (also one that happened since the last call), after 1 s, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function watchChanges(registry: Registry): Changes {
  let seen = false;
  let wake: (() => void) | null = null;
  const stop = registry.onChange(() => {
    seen = true;
    wake?.();
  });
  return {
    async next(signal) {
      if (!seen && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            wake = null;
            resolve();
          };
          const timer = setTimeout(done, POLL_MS);
          signal.addEventListener('abort', done, { once: true });
          wake = done;
        });
      }
      seen = false;
    },
    close: stop,
  };
}
