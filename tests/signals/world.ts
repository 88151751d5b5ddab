// A place to speak from: a working directory, a real registry, and where asked for the real kernel driving the row with effects
// that do nothing but what signals need.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { JobInput } from '../../machines/job/events.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { EffectBody, EffectEnv } from '../../src/kernel/context.ts';
import { begin } from '../../src/kernel/decide.ts';
import { createDriver, type Driver } from '../../src/kernel/driver.ts';
import type { Json, Registry, Row } from '../../src/kernel/ports.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { type AttemptPaths, attemptPaths, prepareAttempt, removeKey } from '../../src/signals/attempt.ts';
import { verifyManifest } from '../../src/signals/manifest.ts';
import { newKey, verifyEnvelope } from '../../src/signals/signature.ts';
import { createWays } from '../../src/signals/ways.ts';

export const JOB = 'job1';

export async function tempDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'stepward-signals-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Waits for a condition; the test's own time limit is the only clock. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const seen = await look();
    if (seen) return seen as NonNullable<T>;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

type Effects = Record<string, EffectBody>;

export interface World {
  root: string;
  cwd: string;
  registryDir: string;
  registry: Registry;
  paths: AttemptPaths;
  row(): Promise<Row>;
  key(): Promise<string>;
  drive(others?: Effects): Promise<Driver>;
  /** Until the row is in this state. */
  reach(phase: Row['phase']): Promise<Row>;
}

export async function openWorld(): Promise<World> {
  const root = await tempDirectory();
  const [cwd, registryDir] = [join(root, 'project'), join(root, 'registry')];
  await mkdir(cwd);
  const registry = await openSqliteRegistry({ dir: registryDir, clock: systemClock });
  onTestFinished(() => registry.close());
  const input = JobInput.parse({});
  const first = begin(jobDefinition, input as unknown as Json);
  await registry.insert(
    { id: JOB, machine: 'job@1', session: 'human:me', spec: { cwd, ...input, ways: ['inbox', 'bus', 'spool'] } },
    { next: first.next, effects: first.effects, log: { from: 'kernel', what: 'registered', verdict: 'take' } },
  );
  const row = async () => (await registry.load(JOB)) as Row;
  return {
    root,
    cwd,
    registryDir,
    registry,
    paths: attemptPaths({ cwd, job: JOB, attempt: 1 }),
    row,
    key: async () => (await row()).key ?? '',
    drive: (others = {}) => drive(registry, { ...effects(cwd, registryDir), ...others }, cwd),
    reach: (phase) => until(async () => ((await row()).phase === phase ? row() : null)),
  };
}

/** The row held by a driver that died before it could do more than the preflight: an attempt with a key, driven by nobody. */
export async function undriven(): Promise<World> {
  const world = await openWorld();
  const driver = await world.drive();
  await world.reach('injected');
  await driver.stop();
  return world;
}

/** `others`: effects that shall do something else. */
export async function driven(others: Effects = {}): Promise<World & { driver: Driver }> {
  const world = await openWorld();
  const driver = await world.drive(others);
  await world.reach('injected');
  return { ...world, driver };
}

async function drive(registry: Registry, effects: Effects, cwd: string): Promise<Driver> {
  const ways = createWays(registry);
  const at = ({ id, attempt }: Row) => ({ job: id, attempt, cwd });
  const driver = createDriver({
    registry,
    clock: systemClock,
    record: { id: `driver-${Math.random()}`, host: 'here', pid: process.pid, started: 'now', build: 'test' },
    isProvenDead: () => false,
    definitions: { job: jobDefinition },
    effects,
    ways: {
      open: (row, onNews) => ways.open(at(row), onNews),
      collect: async (row) => {
        if (row.key !== null) await ways.collect(at(row));
      },
      close: ways.close,
    },
    verify: verifyEnvelope,
    warn: () => {},
  });
  onTestFinished(async () => {
    await driver.stop();
    ways.closeAll();
  });
  if (!(await driver.adopt(JOB))) throw new Error('the row was not given to this driver');
  return driver;
}

export const aborted = ({ signal }: EffectEnv) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function effects(cwd: string, registryDir: string): Effects {
  return {
    sessionLease: async (env) => void (await until(() => env.acquireSession())),
    async preflight({ job, attempt, mintKey }) {
      const key = await mintKey(newKey());
      if (key === null) return;
      await prepareAttempt({ cwd, job, attempt, key, registryDir, brief: 'do it', command: 'stepward' });
    },
    awaitIdle: async () => {},
    openWays: (env) => env.openWays(),
    async inject(env) {
      await env.once({ name: 'hand-over', act: () => {}, limitMs: 1000 });
      return { delivery: 'accepted' };
    },
    watch: aborted,
    remind: aborted,
    readDisk: (env) => env.drain(),
    drainWays: (env) => env.drain(),
    awaitTurn: async () => {},
    async verifyReport({ row }) {
      const { key, attempt, snapshot } = await row();
      const verified = await verifyManifest({ cwd, job: JOB, attempt, key: key ?? '' });
      if (!verified.valid) return verified;
      return { valid: verified.sha256 === snapshot.context.manifest, why: 'another manifest' };
    },
    async cleanup(env) {
      await env.releaseSession();
      await removeKey(attemptPaths({ cwd, job: env.job, attempt: env.attempt }));
      return true;
    },
  };
}
