// The production kernel and effects over a real registry, for each simulated process its own driver.

import { jobDefinition } from '../../src/jobs/definition.ts';
import { jobEffects } from '../../src/jobs/effects.ts';
import type { Workshop } from '../../src/jobs/workshop.ts';
import type { DriverPorts } from '../../src/kernel/context.ts';
import { begin } from '../../src/kernel/decide.ts';
import { machineId } from '../../src/kernel/definition.ts';
import { createDriver, type Driver } from '../../src/kernel/driver.ts';
import type { Clock, DriverRecord, Registry } from '../../src/kernel/ports.ts';
import { connect } from '../../src/registry/sqlite/connection.ts';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { createRegistry } from '../../src/registry/sqlite/registry.ts';
import { prepareSchema } from '../../src/registry/sqlite/schema.ts';
import { verifyEnvelope } from '../../src/signals/signature.ts';
import type { Broker } from './broker.ts';
import type { Desk } from './desk.ts';
import { gatedClock, gatedRegistry, type Watcher } from './gate.ts';
import { asJson, JOBS, type Plan, specFor } from './plan.ts';
import type { Life, Scheduler } from './scheduler.ts';
import type { World } from './world.ts';

/** What a story may change to show what a rule is good for. Nothing: the law. */
export interface Twist {
  /** Around everything a driver uses. */
  ports?: (ports: DriverPorts, room: Room) => DriverPorts;
}

export interface Process {
  life: Life;
  record: DriverRecord;
  driver: Driver;
  registry: Registry;
}

/** The production registry in memory: nothing is synced, everything else is as on a disk. */
export async function openMemoryRegistry(clock: Clock): Promise<Registry> {
  const driver = await loadDriver();
  const connection = connect(driver.open(':memory:', false), ':memory:');
  await prepareSchema(connection, ':memory:', false);
  // Nobody asks this registry for changes, so no directory is watched.
  return createRegistry(connection, clock, '/simulated/.stepward');
}

export async function registerJobs(registry: Registry, plan: Plan): Promise<void> {
  for (const id of JOBS.slice(0, plan.jobs)) {
    const spec = specFor(id, plan.world);
    const first = begin(jobDefinition, jobDefinition.inputOf(asJson(spec)));
    await registry.insert(
      { id, machine: machineId(jobDefinition), session: `${spec.transport}:${spec.target}`, spec: asJson(spec) },
      { next: first.next, effects: first.effects, log: { from: 'kernel', what: 'registered', verdict: 'take' } },
    );
  }
}

export interface Room {
  scheduler: Scheduler;
  registry: Registry;
  desk: Desk;
  broker: Broker;
  busless: boolean;
  world: World;
  watcher: Watcher;
  processes: Process[];
  warn(message: string): void;
  twist: Twist;
}

export function startProcess(room: Room, name: string): Process {
  const { scheduler, desk, broker, world, processes, twist } = room;
  const life: Life = { id: `${name} ${processes.length + 1}`, alive: true, asleepUntil: 0 };
  const number = processes.length + 1;
  const record: DriverRecord = { id: life.id, host: 'simulated', pid: number, started: String(number), build: 'test' };
  const registry = gatedRegistry(room.registry, scheduler, life, room.watcher);
  const isProvenDead = ({ pid }: DriverRecord) =>
    !processes.some((other) => other.record.pid === pid && other.life.alive);
  const transport = world.transportFor(life);
  const bus = room.busless ? null : broker.lineFor(life, registry);
  const workshop: Workshop = {
    registry,
    registryDir: '/simulated/.stepward',
    transports: { headless: transport, human: transport, tmux: transport },
    files: desk.filesFor(life),
    isProvenDead,
    command: 'stepward',
    childEnv: (extra) => extra,
    fences: new Map(),
    bus,
  };
  const ports: DriverPorts = {
    registry,
    clock: gatedClock(scheduler, life),
    record,
    isProvenDead,
    definitions: { job: jobDefinition },
    effects: jobEffects(workshop),
    ways: desk.waysFor(life, registry, bus),
    verify: verifyEnvelope,
    warn: (message) => room.warn(`${life.id}: ${message}`),
  };
  const process: Process = { life, record, registry, driver: createDriver(twist.ports?.(ports, room) ?? ports) };
  processes.push(process);
  return process;
}
