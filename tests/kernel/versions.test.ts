// Rows that this build cannot simply continue (docs/design.md section 4, "Versions"): of an older machine, of a newer one, or with
// a snapshot that does not restore. On the real driver and the real registry.
import { afterEach, describe, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { begin } from '../../src/kernel/decide.ts';
import type { MachineDefinition } from '../../src/kernel/definition.ts';
import { createDriver, type Driver } from '../../src/kernel/driver.ts';
import type { Clock, DriverRecord, EffectWrite, Json, Row } from '../../src/kernel/ports.ts';
import { job2 } from '../models/next-version.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';

const SPEC = { idleRetries: 2, ways: ['inbox', 'spool'], limits: Limits.parse({}) } as unknown as Json;
const open: { store: SqliteStore; drivers: Driver[] }[] = [];
afterEach(async () => {
  for (const { store, drivers } of open.splice(0)) {
    for (const driver of drivers) await driver.stop();
    await store.dispose();
  }
});

async function world() {
  const store = await makeSqliteStore();
  const drivers: Driver[] = [];
  open.push({ store, drivers });
  // The registry's time is the test's; a driver's naps are real and short, so that it soon sees what the test has changed.
  const clock: Clock = {
    now: store.clock.now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, 5));
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
  const warnings: string[] = [];
  const drive = (definition: MachineDefinition, id = 'a'): Driver => {
    const record: DriverRecord = { id, host: 'here', pid: 1, started: '0', build: id };
    const driver = createDriver({
      registry: store.registry,
      clock,
      record,
      isProvenDead: () => true,
      definitions: { job: definition },
      effects: { sessionLease: (env) => env.sleep(1e9), cleanup: async () => true },
      ways: { open: async () => {}, collect: async () => {}, close: () => {} },
      verify: () => true,
      warn: (message) => warnings.push(message),
    });
    drivers.push(driver);
    return driver;
  };
  const insert = (machine: string, snapshotValue: string, effects: EffectWrite[] = []) => {
    const first = begin(jobDefinition, jobDefinition.inputOf(SPEC));
    const log = { from: 'kernel', what: 'registered', verdict: 'take' } as const;
    const snapshot = { ...first.next.snapshot, value: snapshotValue };
    const change = { next: { ...first.next, snapshot }, effects: [...first.effects, ...effects], log };
    return store.registry.insert({ id: 'j', machine, session: 'human:x', spec: SPEC }, change);
  };
  const row = async () => (await store.registry.load('j')) as Row;
  const whats = async () => (await store.registry.log({ job: 'j' })).map(({ what }) => what);
  return { ...store, drive, insert, row, whats, warnings };
}

const timer = (delay: string, afterMs: number): EffectWrite => ({
  kind: 'arm',
  timer: { id: `t.${delay}`, delay, event: { type: `xstate.after.${delay}.x` }, silence: false },
  afterMs,
});

describe('a row of an older machine', () => {
  it('is migrated when it is adopted, and goes on under the new one', async () => {
    const w = await world();
    await w.insert('job@1', 'queued');
    expect(await w.drive(job2).adopt('j')).toBe(true);
    await expect.poll(async () => (await w.row()).machine).toBe('job@2');
    expect(await w.whats()).toContain('migrated');
    await w.registry.deliver({ from: 'person', id: 'p', event: { type: 'cancelled' }, by: 'test' }, 'j', 'inbox');
    await expect.poll(async () => (await w.row()).cleanup).toBe('done');
    expect(await w.row()).toMatchObject({ phase: 'cancelled', machine: 'job@2', faults: 0 });
  });

  it('without a migration is faulted, kept, and closed internal_error at its deadline', async () => {
    const w = await world();
    await w.insert('job@1', 'queued', [timer('deadline', 60_000)]);
    expect(await w.drive({ ...job2, migrations: {} }).adopt('j')).toBe(true);
    await expect.poll(async () => (await w.row()).faults).toBe(3);
    expect(await w.row()).toMatchObject({ phase: 'pending', machine: 'job@1' });
    w.clock.advance(60_001);
    await expect.poll(async () => (await w.row()).cleanup).toBe('done');
    expect((await w.row()).outcome).toEqual({ status: 'failed', reason: 'internal_error' });
    expect(await w.registry.openWork('j')).toEqual([]);
    expect(await w.registry.timers('j')).toEqual([]);
  });
});

it('a row of a newer machine is left to the build that knows it', async () => {
  const w = await world();
  await w.insert('job@9', 'queued');
  expect(await w.drive(jobDefinition).adopt('j')).toBe(false);
  expect(await w.whats()).toEqual(['registered']);
});

describe('a row whose decisions throw', () => {
  const broken = async () => {
    const w = await world();
    await w.insert('job@1', 'no-such-state', [timer('queueTimeout', 1_000), timer('deadline', 60_000)]);
    return w;
  };

  it('is faulted after three, its timers wait, and it is closed internal_error at its deadline', async () => {
    const w = await broken();
    await w.drive(jobDefinition).adopt('j');
    w.clock.advance(1_001);
    await expect.poll(async () => (await w.row()).faults).toBe(3);
    expect(w.warnings.join()).toMatch(/job j is faulted/);
    expect((await w.row()).phase).toBe('pending');
    w.clock.advance(60_000);
    await expect.poll(async () => (await w.row()).phase).toBe('failed');
    expect((await w.row()).outcome?.reason).toBe('internal_error');
  });

  it('can be ended by a person at once', async () => {
    const w = await broken();
    await w.drive(jobDefinition).adopt('j');
    await w.registry.deliver({ from: 'person', id: 'p', event: { type: 'cancelled' }, by: 'test' }, 'j', 'inbox');
    await expect.poll(async () => (await w.registry.inboxRow('p'))?.answer?.verdict).toBe('take');
    expect((await w.row()).outcome?.reason).toBe('internal_error');
  });

  it('is given three tries again by the next driver, and no more time', async () => {
    const w = await broken();
    const first = w.drive(jobDefinition);
    await first.adopt('j');
    w.clock.advance(1_001);
    await expect.poll(async () => (await w.row()).faults).toBe(3);
    await first.stop();
    await w.drive(jobDefinition, 'b').adopt('j');
    await expect.poll(async () => (await w.whats()).filter((what) => what === 'fault forgiven')).toHaveLength(1);
    await expect.poll(async () => (await w.row()).faults).toBe(3);
    w.clock.advance(60_000);
    await expect.poll(async () => (await w.row()).outcome?.reason).toBe('internal_error');
  });

  it('does not lose what an agent says: it waits in the inbox', async () => {
    const w = await broken();
    await w.drive(jobDefinition).adopt('j');
    w.clock.advance(1_001);
    await expect.poll(async () => (await w.row()).faults).toBe(3);
    await w.registry.mintKey({ id: 'j', epoch: (await w.row()).epoch, attempt: 1 }, 'k');
    const event = { type: 'progress' };
    const envelope = { v: 1, id: 'e', job: 'j', attempt: 1, seq: 1, event, at: '', sig: '' } as const;
    await w.registry.deliver({ from: 'agent', id: 'e', envelope }, 'j', 'inbox');
    w.clock.advance(1_000);
    expect((await w.registry.inboxRow('e'))?.answer).toBe(null);
    expect(await w.registry.undecided('j')).toHaveLength(1);
  });
});
