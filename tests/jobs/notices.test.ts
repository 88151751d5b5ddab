// How the bus is told how jobs stand (docs/design.md section 6): from the row, until it is confirmed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startNotices } from '../../src/jobs/notices.ts';
import type { Registry } from '../../src/kernel/ports.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import type { Bus } from '../../src/signals/bus/types.ts';
import {
  claim,
  type DrivenClock,
  drivenClock,
  ended,
  insert,
  load,
  move,
  nextState,
  PATIENTLY,
} from '../registry/support.ts';

interface Told {
  topic: string;
  state: { v: number; id: string; version: number; state: string; exit: number | null; reason: string | null };
  retain: boolean;
}

/** A bus whose broker the test plays: what is told, when it answers, when it goes away and comes back having forgotten. */
function playedBus() {
  const told: Told[] = [];
  const listeners: (() => void)[] = [];
  let up = false;
  let generation = 0;
  let answer: () => Promise<void> = async () => {};
  const change = () => {
    for (const listener of listeners.splice(0)) listener();
  };
  const bus: Bus = {
    prefix: 'p',
    status: () => (up ? { up } : { up, why: 'away' }),
    changed: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        listeners.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    follow() {},
    unfollow() {},
    hears: () => false,
    agentAddress: () => null,
    generation: () => generation,
    async publish(topic, payload, { retain = false } = {}) {
      await answer();
      told.push({ topic, state: JSON.parse(payload), retain });
    },
    async stop() {},
  };
  return {
    bus,
    told,
    connect() {
      up = true;
      generation++;
      change();
    },
    lose() {
      up = false;
      change();
    },
    answers(how: () => Promise<void>) {
      answer = how;
    },
  };
}

async function world(before: (registry: Registry, clock: DrivenClock) => Promise<void> = async () => {}) {
  const dir = await mkdtemp(join(tmpdir(), 'stepward-notices-'));
  const clock = drivenClock();
  const registry = await openSqliteRegistry({ dir, clock });
  await before(registry, clock);
  const played = playedBus();
  const mine = new Set<string>();
  const warn = vi.fn();
  const notices = startNotices({ registry, bus: played.bus, isMine: (job) => mine.has(job), warn });
  onTestFinished(async () => {
    await notices.stop(5_000);
    await registry.close();
    await rm(dir, { recursive: true, force: true });
  });
  return { ...played, clock, registry, mine, warn, notices };
}

const versionsOf = (told: Told[], job: string): number[] =>
  told.filter(({ state }) => state.id === job).map(({ state }) => state.version);
const move1 = async (registry: Registry, job: string, over = {}) => {
  expect(await registry.commit(await load(registry, job), move({ next: nextState(over) }))).toBe(true);
};

describe('notices', () => {
  it('tell the state of a row, retained, on its topic, and each change of it', async () => {
    const { registry, told, connect, mine } = await world();
    mine.add('a');
    await insert(registry, 'a');
    connect();
    await expect.poll(() => versionsOf(told, 'a'), PATIENTLY).toEqual([1]);
    expect(told[0]).toMatchObject({
      topic: 'p/v1/jobs/a/state',
      retain: true,
      state: {
        v: 1,
        id: 'a',
        machine: 'job@1',
        status: 'pending',
        state: 'queued',
        attempt: 1,
        exit: null,
        reason: null,
      },
    });
    await registry.commit(await load(registry, 'a'), move({ next: ended() }));
    await expect.poll(() => versionsOf(told, 'a'), PATIENTLY).toEqual([1, 2]);
    expect(told[1]?.state).toMatchObject({ status: 'error', exit: 2, reason: 'idle_timeout' });
  });

  it('are told again until the broker confirms', async () => {
    const { registry, told, connect, mine, answers, warn } = await world();
    mine.add('a');
    await insert(registry, 'a');
    let tries = 0;
    answers(async () => {
      if (++tries < 3) throw new Error('no answer');
    });
    connect();
    await expect.poll(() => versionsOf(told, 'a'), PATIENTLY).toEqual([1]);
    expect(tries).toBe(3);
    expect(warn.mock.calls.flat()).toEqual([expect.stringContaining('no answer')]);
  });

  it('tell a broker that may have forgotten everything recent again, and nothing old', async () => {
    const { registry, told, connect, lose } = await world(async (registry, clock) => {
      await insert(registry, 'old');
      clock.advance(25 * 3_600_000);
      await insert(registry, 'new');
    });
    connect();
    await expect.poll(() => versionsOf(told, 'new'), PATIENTLY).toEqual([1]);
    lose();
    await move1(registry, 'new');
    connect();
    await expect.poll(() => versionsOf(told, 'new'), PATIENTLY).toEqual([1, 2]);
    expect(versionsOf(told, 'old')).toEqual([]);
  });

  it('leave a row to its driver, and take over what nobody drives', async () => {
    const { registry, told, connect, mine } = await world();
    await insert(registry, 'theirs');
    await insert(registry, 'mine');
    mine.add('mine');
    const epoch = await claim(registry, 'theirs', 'somebody');
    connect();
    await expect.poll(() => versionsOf(told, 'mine'), PATIENTLY).toEqual([1]);
    expect(versionsOf(told, 'theirs')).toEqual([]);
    // A driver without a bus that leaves writes nothing into the log.
    await registry.release('theirs', epoch);
    await expect.poll(() => versionsOf(told, 'theirs'), PATIENTLY).toEqual([1]);
  });

  it('tell the last news before they stop', async () => {
    const { registry, told, connect, mine, notices } = await world();
    mine.add('a');
    await insert(registry, 'a');
    connect();
    await expect.poll(() => versionsOf(told, 'a'), PATIENTLY).toEqual([1]);
    await move1(registry, 'a');
    await notices.stop(5_000);
    expect(versionsOf(told, 'a').at(-1)).toBe(2);
  });

  it('do not wait for a broker that never answers', async () => {
    const { registry, connect, mine, notices, answers } = await world();
    mine.add('a');
    await insert(registry, 'a');
    const asked = vi.fn();
    answers(() => {
      asked();
      return new Promise(() => {});
    });
    connect();
    await expect.poll(() => asked.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
    await notices.stop(10);
  });
});
