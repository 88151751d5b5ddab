// One job on the real kernel and the real registry, with a bus in memory and a clock that the test moves. Of the effects only
// those of the channel are the product's; the others do at once what they promise.
import { Limits } from '../../machines/job/events.ts';
import { followBus, openWays } from '../../src/jobs/channel.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { Workshop } from '../../src/jobs/workshop.ts';
import type { EffectEnv } from '../../src/kernel/context.ts';
import { begin } from '../../src/kernel/decide.ts';
import { createDriver, type Driver } from '../../src/kernel/driver.ts';
import type { Clock, DriverRecord, Json, LogRow, Registry, Row, Way } from '../../src/kernel/ports.ts';
import type { Bus } from '../../src/signals/bus/types.ts';
import { openMemoryRegistry } from '../simulation/machine-room.ts';

export const JOB = 'j';

const untilAborted = (env: EffectEnv): Promise<void> =>
  new Promise((resolve) => {
    if (env.signal.aborted) resolve();
    env.signal.addEventListener('abort', () => resolve());
  });

class MovedClock implements Clock {
  #now = 1_000_000;
  #sleepers = new Set<{ until: number; wake: () => void }>();
  now = (): number => this.#now;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake);
      if (signal?.aborted || ms <= 0) sleeper.wake();
    });
  }

  /** In steps, so that whoever sleeps in a loop wakes each time. */
  async pass(ms: number): Promise<void> {
    for (const until = this.#now + ms; this.#now < until; ) {
      this.#now += Math.min(250, until - this.#now);
      for (const sleeper of [...this.#sleepers]) if (sleeper.until <= this.#now) sleeper.wake();
      // All that was woken has come to its next pause, the registry's answers included.
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

export class ChannelWorld {
  readonly warnings: string[] = [];
  /** How often the drivers' effects have asked for the bus: asking connects. */
  asked = 0;
  readonly #drivers: Driver[] = [];
  #ended = false;

  private constructor(
    readonly registry: Registry,
    readonly clock: MovedClock,
  ) {}

  static async with(ways: Way[]): Promise<ChannelWorld> {
    const clock = new MovedClock();
    const world = new ChannelWorld(await openMemoryRegistry(clock), clock);
    const spec = { idleRetries: 0, limits: Limits.parse({}), cwd: '/nowhere', ways } as unknown as Json;
    const { next, effects } = begin(jobDefinition, jobDefinition.inputOf(spec));
    const log = { from: 'kernel', what: 'registered', verdict: 'take' } as const;
    await world.registry.insert({ id: JOB, machine: 'job@1', session: 'human:x', spec }, { next, effects, log });
    return world;
  }

  /** A driver with this bus, or none; the former one is gone. */
  async drive(bus: Bus | null): Promise<void> {
    await this.#drivers.at(-1)?.stop();
    const world = this;
    const shop = {
      get bus() {
        world.asked += 1;
        return bus;
      },
    } as unknown as Workshop;
    const record: DriverRecord = { id: `d${this.#drivers.length}`, host: 'h', pid: 1, started: '1', build: 'test' };
    const driver = createDriver({
      registry: this.registry,
      clock: this.clock,
      record,
      isProvenDead: () => true,
      definitions: { job: jobDefinition },
      effects: {
        sessionLease: async () => {},
        preflight: async (env) => void (await env.mintKey('k')),
        awaitIdle: async () => {},
        openWays: (env) => openWays(shop, env),
        inject: async (env) => {
          await env.once({ name: 'spawn', limitMs: 1_000, act: () => {} });
          return { delivery: 'accepted' };
        },
        watch: untilAborted,
        followBus: (env) => followBus(shop, env),
        readDisk: (env) => env.drain(),
        drainWays: (env) => env.drain(),
        remind: untilAborted,
        cleanup: async () => true,
      },
      ways: { open: async () => {}, collect: async () => {}, close: () => {} },
      verify: () => true,
      warn: (message) => this.warnings.push(message),
    });
    this.#drivers.push(driver);
    await driver.adopt(JOB);
    await this.clock.pass(1_000);
  }

  async row(): Promise<Row> {
    return (await this.registry.load(JOB)) as Row;
  }

  /** `lost WHY`, `back`, in the order in which the row was told. */
  async told(): Promise<string[]> {
    const log = await this.registry.log({ job: JOB });
    return log.filter(({ what }) => what.startsWith('bus.')).map(told);
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    for (const driver of this.#drivers) await driver.stop();
    await this.registry.close();
  }
}

const told = ({ what, data }: LogRow): string =>
  what === 'bus.back' ? 'back' : `lost ${String((data as { detail?: string }).detail)}`;
