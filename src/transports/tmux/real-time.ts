// Panes live in real time, whatever clock the rules go by.

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** True as soon as `test` is, false after `ms`. */
export async function until(test: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (let gap = 5; !(await test()); gap = Math.min(gap * 2, 50)) {
    if (performance.now() >= end) return false;
    await pause(gap);
  }
  return true;
}
