// A driver under test: the kernel's own parts around effects that wait for the test. It can be killed at any moment, also in
// the middle of a commit, and does nothing any more from then on.
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { Context, EffectBody, EffectEnv, Held } from '../../src/kernel/context.ts';
import { makeHeld } from '../../src/kernel/held.ts';
import type { Clock, DriverRecord, Registry } from '../../src/kernel/ports.ts';
import { reconcile } from '../../src/kernel/tasks.ts';
import { effectNames } from './requests.ts';

export type Kill = 'before' | 'after';

/** The process is gone: nothing of it runs on, and nobody hears what it was about to say. */
export class Killed extends Error {
  override name = 'Killed';
}

export const KEY = 'k';

export interface Waiting {
  env: EffectEnv;
  end(output: unknown): void;
  fail(error: Error): void;
}

/** Time passes only where the test moves it; a pause ends when what it belongs to is stopped. */
const untilAborted = (_ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });

/** One driver's hold on one job. After `kill` it does nothing any more, whoever still calls it. */
export class MortalDriver {
  readonly context: Context;
  readonly held: Held;
  readonly waiting = new Map<string, Waiting>();
  readonly record: DriverRecord;
  readonly died: Promise<void>;
  #tellDeath = () => {};
  #dead = false;
  killAt: Kill | null = null;

  constructor(registry: Registry, clock: Clock, record: DriverRecord, job: string, epoch: number, warnings: string[]) {
    this.record = record;
    this.died = new Promise((resolve) => {
      this.#tellDeath = resolve;
    });
    const effects = Object.fromEntries(effectNames.map((name) => [name, this.#effect(name)]));
    const held = new Map<string, Held>();
    this.context = {
      registry: this.#mortal(registry),
      clock: { now: () => clock.now(), sleep: untilAborted },
      record,
      isProvenDead: () => true,
      definitions: { job: jobDefinition },
      effects,
      ways: { open: async () => {}, collect: async () => {}, close: () => {} },
      verify: (_, key) => key === KEY,
      warn: (message) => void warnings.push(message),
      held,
      adoptFinished: async () => {},
    };
    this.held = makeHeld({ job, epoch, concludes: false, now: clock.now() }, this.context.clock);
    held.set(job, this.held);
  }

  kill(): void {
    this.#dead = true;
    this.#tellDeath();
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Ends when the test says so, or soon after it is aborted: as the kernel asks of every effect. */
  #effect(name: string): EffectBody {
    return (env) =>
      new Promise((resolve, reject) => {
        const mine: Waiting = { env, end: resolve, fail: reject };
        this.waiting.set(name, mine);
        env.signal.addEventListener('abort', () => {
          if (this.waiting.get(name) === mine) this.waiting.delete(name);
          resolve(undefined);
        });
      });
  }

  #mortal(registry: Registry): Registry {
    return new Proxy(registry, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        // Only what goes to the store: `now` and `onChange` answer at once.
        if (typeof member !== 'function' || name === 'now' || name === 'onChange') return member;
        return async (...args: unknown[]) => {
          if (this.#dead) throw new Killed(`${String(name)} of a dead driver`);
          const commits = name === 'commit' && this.killAt !== null;
          if (commits && this.killAt === 'before') this.#die();
          const result: unknown = await member.apply(target, args);
          if (commits && result === true) this.#die();
          return result;
        };
      },
    });
  }

  #die(): never {
    this.kill();
    throw new Killed('killed');
  }

  /** Until what runs is what the outbox says. */
  async reconciled(): Promise<void> {
    for (;;) {
      await reconcile(this.context, this.held);
      const stopping = [...this.held.tasks.values()].filter((task) => task.controller.signal.aborted);
      if (stopping.length === 0) return;
      await Promise.all(stopping.map((task) => task.done));
    }
  }
}
