// A second system under test: XState's own running actor, with effects that wait for the test and a clock that fires one named
// timer at a time. It shares the machine with the kernel, and nothing else.
import { type ActorOptions, createActor, fromPromise, type InspectionEvent } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import type { Delivery } from '../../machines/job/setup.ts';
import { internal, type ModelEvent } from './events.ts';
import { INPUT, type JobState, LIMITS } from './graph.ts';
import { LENGTHS } from './page.ts';

type XClock = NonNullable<ActorOptions<typeof jobMachine>['clock']>;

/** XState's clock knows only functions and lengths; every limit of the model has a length of its own, so a length is a name. */
class ManualClock implements XClock {
  #last = 0;
  readonly #live = new Map<number, { run: () => void; ms: number }>();
  setTimeout = (run: () => void, ms: number): number => {
    this.#live.set(++this.#last, { run, ms });
    return this.#last;
  };
  clearTimeout = (id: number): void => {
    this.#live.delete(id);
  };
  fire(ms: number): void {
    const found = [...this.#live].find(([, timer]) => timer.ms === ms);
    if (!found) throw new Error(`no timer of ${ms} ms runs`);
    this.#live.delete(found[0]);
    found[1].run();
  }
  lengths(): number[] {
    return [...this.#live.values()].map(({ ms }) => ms).sort();
  }
}

interface Waiting {
  resolve(output: unknown): void;
  reject(error: Error): void;
}

export interface Taken {
  guard?: unknown;
  eventType: string;
  source: { id: string };
}

export class LiveJob {
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock = new ManualClock();
  readonly #actor;
  readonly starts: string[] = [];
  readonly plans: unknown[] = [];

  /** `onBranch` is told every transition that was taken, `always` ones included. */
  constructor(onBranch: (branch: Taken) => void = () => {}) {
    const fake = <Output>(name: string) =>
      fromPromise<Output>(({ signal }) => {
        this.starts.push(name);
        return new Promise<Output>((resolve, reject) => {
          const mine = { resolve: resolve as (output: unknown) => void, reject };
          this.#waiting.set(name, mine);
          signal.addEventListener('abort', () => {
            if (this.#waiting.get(name) === mine) this.#waiting.delete(name);
          });
        });
      });
    const actors = {
      sessionLease: fake<void>('sessionLease'),
      preflight: fake<void>('preflight'),
      awaitIdle: fake<void>('awaitIdle'),
      openWays: fake<void>('openWays'),
      inject: fake<{ delivery: Delivery }>('inject'),
      watch: fake<void>('watch'),
      followBus: fake<void>('followBus'),
      remind: fake<void>('remind'),
      readDisk: fake<void>('readDisk'),
      drainWays: fake<void>('drainWays'),
      awaitTurn: fake<void>('awaitTurn'),
      verifyReport: fake<{ valid: boolean; why?: string }>('verifyReport'),
    };
    const machine = jobMachine.provide({ actors, actions: { cleanup: (_, plan) => void this.plans.push(plan) } });
    const inspect = (event: InspectionEvent) => {
      if (event.type !== '@xstate.microstep') return;
      for (const branch of event._transitions) onBranch(branch as unknown as Taken);
    };
    this.#actor = createActor(machine, { input: INPUT, clock: this.#clock, inspect });
    this.#actor.start();
  }

  get state(): JobState {
    return this.#actor.getSnapshot() as unknown as JobState;
  }

  /** Effects that were started and neither stopped nor settled. */
  get running(): string[] {
    return [...this.#waiting.keys()].sort();
  }

  get timers(): number[] {
    return this.#clock.lengths();
  }

  async play(event: ModelEvent): Promise<void> {
    const { kind, name } = internal(event.type);
    if (kind === 'timer') return this.#clock.fire(LIMITS[LENGTHS[name as keyof typeof LENGTHS]]);
    if (kind === null) return this.#actor.send(event as never);
    const waiting = this.#waiting.get(name);
    if (!waiting) throw new Error(`effect ${name} does not run`);
    this.#waiting.delete(name);
    if (kind === 'done') waiting.resolve(event.output);
    else waiting.reject(new Error((event.error as { message: string }).message));
    // XState hears of a settled promise in a later microtask; all of those run before the next macrotask.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  stop(): void {
    this.#actor.stop();
  }
}
