// Panes live in real time, whatever clock the rules go by.
import { systemClock } from '../../kernel/clock.ts';

/** Resolves after `ms`, or at once when the signal aborts. */
export const pause = systemClock.sleep;

/** True as soon as `test` is, false after `ms`. */
export async function until(test: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (let gap = 5; !(await test()); gap = Math.min(gap * 2, 50)) {
    if (performance.now() >= end) return false;
    await pause(gap);
  }
  return true;
}
