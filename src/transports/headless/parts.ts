// What the parts of the headless transport share.
import type { Clock } from '../../kernel/ports.ts';
import type { Marks } from '../marks.ts';
import type { Activity } from './activity.ts';

export interface HeadlessOptions {
  /** The launcher's script, absolute: `dist/launcher.mjs`. */
  launcher: string;
  /** Where the marks of the sessions are; absolute, the same for all drivers that are to exclude each other. */
  marksDir: string;
  clock: Clock;
  /** Without output for longer than this, ms, the turn is hidden. Default 10 s; a place may ask for less. */
  quietMs?: number;
  /** From SIGTERM to SIGKILL, real ms. Default 5 s. */
  termMs?: number;
}

export interface Parts {
  launcher: string;
  clock: Clock;
  quietMs: number;
  termMs: number;
  marks: Marks;
  activity: Activity;
}

/** Processes start and die in real time, whatever clock the rules go by. */
export const realSleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** True as soon as `test` is, false after `ms` of real time. */
export async function until(test: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (let pause = 5; !test(); pause = Math.min(pause * 2, 50)) {
    if (performance.now() >= end) return false;
    await realSleep(pause);
  }
  return true;
}
