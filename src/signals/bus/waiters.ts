// Whoever waits for the next change of something that is not an event of the registry.
export interface Waiters {
  wake(): void;
  /** Resolves at the next `wake`, or when the signal aborts. Never rejects. */
  next(signal: AbortSignal): Promise<void>;
}

export function createWaiters(): Waiters {
  const waiting = new Set<() => void>();
  return {
    wake() {
      for (const one of [...waiting]) one();
    },
    next: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const done = () => {
          waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        waiting.add(done);
        signal.addEventListener('abort', done, { once: true });
      }),
  };
}
