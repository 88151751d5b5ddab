// What one driver does at once with one row: drains, adoptions, a stop in the middle of a claim.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { Context, DriverPorts } from '../../src/kernel/context.ts';
import { begin } from '../../src/kernel/decide.ts';
import { drain } from '../../src/kernel/drain.ts';
import { createDriver } from '../../src/kernel/driver.ts';
import { makeHeld } from '../../src/kernel/held.ts';
import type { Clock, DriverRecord, Json, OutsideRequest, Registry } from '../../src/kernel/ports.ts';
import { RegistryError } from '../../src/registry/errors.ts';
import { openMemoryRegistry } from '../simulation/machine-room.ts';

const JOB = 'a';
let registry: Registry;
let clock: Clock;
let record: DriverRecord;

beforeEach(async () => {
  const sleepers = new Set<() => void>();
  clock = {
    now: () => 1_000,
    // Time stands still: whoever sleeps wakes when he is told to.
    sleep: (_, signal) =>
      new Promise((resolve) => {
        sleepers.add(resolve);
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  record = { id: 'me', host: 'here', pid: 1, started: '1', build: 'test' };
  registry = await openMemoryRegistry(clock);
  const spec = {
    idleRetries: 0,
    limits: Limits.parse({}),
    cwd: '/nowhere',
    ways: ['inbox', 'spool'],
  } as unknown as Json;
  const first = begin(jobDefinition, jobDefinition.inputOf(spec));
  await registry.insert(
    { id: JOB, machine: 'job@1', session: 'human:x', spec },
    { next: first.next, effects: first.effects, log: { from: 'kernel', what: 'registered', verdict: 'take' } },
  );
});
afterEach(() => registry.close());

const portsOver = (over: Partial<Registry>): DriverPorts => ({
  registry: new Proxy(registry, { get: (target, name: keyof Registry) => over[name] ?? target[name] }),
  clock,
  record,
  isProvenDead: () => false,
  definitions: { job: jobDefinition },
  // Waits until it is stopped, as an effect that watches does.
  effects: { sessionLease: ({ sleep }) => sleep(1_000) },
  ways: { open: async () => {}, collect: async () => {}, close: () => {} },
  verify: () => true,
  warn: () => {},
});

const ask = (id: string): OutsideRequest => ({ from: 'person', id, event: { type: 'cancelled' }, by: 'a test' });

describe('drains side by side', () => {
  it('decide each request once', async () => {
    const epoch = await registry.claim(JOB, record, 15_000, 60_000, () => false);
    const held = makeHeld({ job: JOB, epoch: epoch ?? 0, concludes: false, now: 0 }, clock);
    const context: Context = { ...portsOver({}), held: new Map([[JOB, held]]), adoptFinished: async () => {} };
    for (const id of ['p1', 'p2', 'p3']) await registry.deliver(ask(id), JOB, 'inbox');

    await Promise.all([drain(context, held), drain(context, held), drain(context, held)]);

    const decided = (await registry.log({ job: JOB })).filter(({ from }) => from === 'person');
    expect(decided.map(({ verdict }) => verdict)).toEqual(['take', 'idempotent', 'idempotent']);
    expect(await registry.undecided(JOB)).toEqual([]);
  });
});

describe('adoptions side by side', () => {
  it('claim one after another, and drive the row once', async () => {
    const other: DriverRecord = { ...record, id: 'other', pid: 2 };
    const theirs = await registry.claim(JOB, other, 15_000, 60_000, () => false);
    let claiming = 0;
    let most = 0;
    const driver = createDriver(
      portsOver({
        claim: async (...terms) => {
          claiming += 1;
          most = Math.max(most, claiming);
          const epoch = await registry.claim(...terms);
          // The other lets go right after the first has been turned away.
          if (epoch === null) await registry.release(JOB, theirs ?? 0);
          claiming -= 1;
          return epoch;
        },
      }),
    );
    const adopted = await Promise.all([driver.adopt(JOB), driver.adopt(JOB), driver.adopt(JOB)]);
    expect(adopted).toEqual([false, true, true]);
    expect(most).toBe(1);
    expect(driver.held()).toEqual([JOB]);
    await driver.stop();
    expect((await registry.lease(JOB))?.driver).toBeNull();
  });
});

describe('a stop in the middle of a claim', () => {
  it('lets the row go again', async () => {
    let claimed: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      claimed = resolve;
    });
    const driver = createDriver(
      portsOver({
        claim: async (...terms) => {
          await until;
          return registry.claim(...terms);
        },
      }),
    );
    const adoption = driver.adopt(JOB);
    await Promise.resolve();
    const stopped = driver.stop();
    claimed();
    await Promise.all([adoption, stopped]);
    expect(driver.held()).toEqual([]);
    expect((await registry.lease(JOB))?.driver).toBeNull();
  });
});

describe('a registry that cannot be written right after the claim', () => {
  it('does not leave a row held and undriven', async () => {
    // A faulted row: taking it over begins with a commit.
    const row = await registry.load(JOB);
    await registry.commit(row!, {
      faults: { count: 3, reason: 'x' },
      log: { from: 'kernel', what: 'fault', verdict: 'refused' },
    });
    let refusals = 0;
    const ports = portsOver({
      commit: async (read, change) => {
        if (refusals > 0) return registry.commit(read, change);
        refusals += 1;
        throw new RegistryError('full', 'no room');
      },
    });
    const driver = createDriver(ports);
    expect(await driver.adopt(JOB)).toBe(true);
    await registry.deliver(ask('p1'), JOB, 'inbox');
    // Poked by a second adoption, since time stands still.
    await expect.poll(async () => (await driver.adopt(JOB)) && (await registry.inboxRow('p1'))?.answer).toBeTruthy();
    expect(refusals).toBe(1);
    await driver.stop();
  });
});
