// A hand without a kernel: the once protocol (mark, look again, act, record) over steps in memory that all hands of one attempt
// share, so that a second driver finds what the first one left.
import type { Fence, Hand, OnceStep } from '../../src/transports/transport.ts';

/** The driver died here. */
export class Crash extends Error {
  override name = 'Crash';
}

export interface HandOptions {
  driver: string;
  fence: Fence;
  signal?: AbortSignal;
  /** Where the driver dies. */
  dies?: 'after-mark' | 'after-act';
  /** How it dies; by default Crash is thrown, and the book knows the driver as dead. */
  die?: () => void;
  /** `before-mark`: the epoch is gone. `after-mark`: it goes between the mark and the act. */
  revoked?: 'before-mark' | 'after-mark';
}

interface Step {
  driver: string;
  result: 'done' | 'withheld' | null;
}

export interface StepBook {
  /** Steps whose act ran, in order. */
  readonly acts: string[];
  readonly steps: ReadonlyMap<string, Step>;
  hand(options: HandOptions): Hand;
}

export function createStepBook(): StepBook {
  const steps = new Map<string, Step>();
  const dead = new Set<string>();
  const acts: string[] = [];

  function hand({ driver, fence, signal = new AbortController().signal, dies, die, revoked }: HandOptions): Hand {
    const perish = () => {
      dead.add(driver);
      die?.();
      throw new Crash(`${driver} died`);
    };
    const once = async (step: OnceStep) => {
      await Promise.resolve();
      const known = steps.get(step.name);
      if (known) return known.result ?? 'unproven';
      if (signal.aborted || revoked === 'before-mark') return 'lost';
      const mark: Step = { driver, result: null };
      steps.set(step.name, mark);
      if (dies === 'after-mark') perish();
      await Promise.resolve();
      if (signal.aborted || revoked === 'after-mark' || !((await step.may?.()) ?? true)) {
        mark.result = 'withheld';
        return 'withheld';
      }
      await step.act();
      acts.push(step.name);
      if (dies === 'after-act') perish();
      mark.result = 'done';
      return 'done';
    };
    return {
      fence,
      signal,
      once,
      async inspect(name) {
        const known = steps.get(name);
        if (!known) return { state: 'not-started', gone: true, dead: true };
        const isOver = known.result !== null || dead.has(known.driver);
        return { state: known.result ?? 'open', gone: isOver, dead: isOver };
      },
      hold: async () => {},
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    };
  }

  return { acts, steps, hand };
}
