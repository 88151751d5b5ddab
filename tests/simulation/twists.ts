// Rules switched off one at a time, by standing between the kernel and one of its ports: what breaks then shows what a rule is for.
import type { AnyStateMachine } from 'xstate';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { DriverPorts, EffectEnv } from '../../src/kernel/context.ts';
import type { Registry } from '../../src/kernel/ports.ts';
import type { Room, Twist } from './machine-room.ts';

const withRegistry = (ports: DriverPorts, own: Partial<Registry>): DriverPorts => ({
  ...ports,
  registry: new Proxy(ports.registry, {
    get: (target, name: keyof Registry) => own[name] ?? target[name],
  }),
});

const withEnv = (ports: DriverPorts, effect: string, change: (env: EffectEnv) => Partial<EffectEnv>): DriverPorts => {
  const body = ports.effects[effect];
  if (!body) throw new Error(`no effect ${effect}`);
  return { ...ports, effects: { ...ports.effects, [effect]: (env) => body({ ...env, ...change(env) }) } };
};

const hasDueTimer = async (room: Room, job: string): Promise<boolean> =>
  (await room.registry.timers(job)).some(({ fireAt }) => fireAt <= room.scheduler.now);

const machineWhere = (guard: string, holds: () => boolean): DriverPorts['definitions'] => ({
  job: {
    ...jobDefinition,
    logic: jobDefinition.logic.provide({ guards: { [guard]: holds } } as never) as AnyStateMachine,
  },
});

/** An ended lease, or silence, is taken for death. */
export const sleepMeansDeath: Twist = {
  ports: (ports, room) => ({
    ...ports,
    isProvenDead: (driver) => {
      const other = room.processes.find(({ record }) => record.id === driver.id);
      return !other?.life.alive || other.life.asleepUntil > room.scheduler.now;
    },
  }),
};

/** Due timers are applied before what came in meanwhile is looked at, and what a clock has ended stays ended. */
export const clocksFirst: Twist = {
  ports: (ports, room) => ({
    ...withRegistry(ports, {
      undecided: async (job) => ((await hasDueTimer(room, job)) ? [] : ports.registry.undecided(job)),
    }),
    definitions: machineWhere('outcomeIsProvisional', () => false),
  }),
};

/** Silence is measured by the wall, also while nobody watched. */
export const clocksNeverShift: Twist = {
  ports: (ports) =>
    withRegistry(ports, {
      claim: (job, driver, ttl, _gap, dead) => ports.registry.claim(job, driver, ttl, Number.MAX_SAFE_INTEGER, dead),
      renew: (driver, leases, ttl) => ports.registry.renew(driver, leases, ttl, Number.MAX_SAFE_INTEGER),
    }),
};

/** Every decision that asks this guard throws, as one of a broken build would. */
export const throwing = (guard: string): Twist => ({
  ports: (ports) => ({
    ...ports,
    definitions: machineWhere(guard, () => {
      throw new Error('broken on purpose');
    }),
  }),
});

/** Whoever commits is not asked for the epoch and version that he read. */
export const commitsBlindly: Twist = {
  ports: (ports, room) =>
    withRegistry(ports, {
      commit: async (read, change) => {
        if (await ports.registry.commit(read, change)) return true;
        return ports.registry.commit((await room.registry.load(read.id)) ?? read, change);
      },
    }),
};

const unmarked = (env: EffectEnv): Partial<EffectEnv> => ({
  inspect: async () => ({ state: 'not-started', gone: true, dead: true }),
  once: async (step) => {
    if (env.signal.aborted || !((await step.may?.()) ?? true)) return 'withheld';
    await env.report({ type: 'step.started', step: step.name });
    await step.act();
    return 'done';
  },
});
/** Nothing is written down before a key is pressed. */
export const unmarkedDelivery: Twist = { ports: (ports) => withEnv(ports, 'inject', unmarked) };
export const unmarkedInterrupt: Twist = { ports: (ports) => withEnv(ports, 'cleanup', unmarked) };

/** A due silence timer does not wait for a look. */
export const noLookNeeded: Twist = {
  ports: (ports) => ({
    ...ports,
    definitions: { job: { ...jobDefinition, isSilence: () => false } },
  }),
};

/** A limit on an effect counts also while nobody ran it. */
export const limitsCountAlways: Twist = {
  ports: (ports) => ({ ...ports, definitions: { job: { ...jobDefinition, effectLimitMs: () => null } } }),
};

/** Silence counts although nobody could have heard the agent. */
export const silenceAlwaysCounts: Twist = {
  ports: (ports) => ({ ...ports, definitions: machineWhere('unheard', () => false) }),
};

/** Nobody tells the row whether the bus is there. */
export const nobodyFollowsTheBus: Twist = {
  ports: (ports) => ({
    ...ports,
    effects: { ...ports.effects, followBus: (env) => env.sleep(Number.MAX_SAFE_INTEGER) },
  }),
};

/** Any signature will do. */
export const believesEverybody: Twist = { ports: (ports) => ({ ...ports, verify: () => true }) };
