// Two drivers on one registry. A row is driven by one of them at a time, as its log shows, and the one that lost its lease while
// it slept commits nothing more when it wakes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentFile, type Project, project, stepwardUnderTest } from '../e2e/support.ts';
import { setTime } from '../support/world/clock-file.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const LEASE_MS = 15_000;

/** A project in simulated time: every process of it, the agent's emits too, reads one clock file. */
function simulated(p: Project) {
  const clock = join(p.dir, 'clock');
  setTime(clock, START);
  const command = [process.execPath, agentFile, 'waitsForFile', p.countFile];
  const agents = { slow: { kind: 'command', command, env: { STEPWARD_TEST_CLOCK: clock } } };
  writeFileSync(join(p.dir, 'stepward.config.json'), JSON.stringify({ agents }));
  return { clock, options: { bin: stepwardUnderTest, env: { STEPWARD_TEST_CLOCK: clock } } };
}

const timeOf = (clock: string): number => Number(readFileSync(clock, 'utf8'));

interface Entry {
  epoch: number;
  driver: string | null;
  version: number;
  verdict: string;
}

function expectOneDriverAtATime(log: Entry[]): void {
  const drivers = new Map<number, Set<string>>();
  for (const { epoch, driver } of log) {
    if (driver) drivers.set(epoch, (drivers.get(epoch) ?? new Set()).add(driver));
  }
  for (const [epoch, names] of drivers) {
    if (epoch > 0) expect([epoch, [...names]]).toEqual([epoch, [expect.any(String)]]);
  }
  // In the order of the log, epochs and versions only grow: nobody commits with an epoch that is over.
  expect(log.map(({ epoch }) => epoch)).toEqual(log.map(({ epoch }) => epoch).sort((a, b) => a - b));
  const versions = log.map(({ version }) => version);
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
}

describe('two drivers', () => {
  it('a driver that sleeps past its lease is replaced, and commits nothing more when it wakes', async () => {
    const p = project();
    const { clock, options } = simulated(p);
    const first = p.start(['delegate', '--agent', 'slow', '--prompt', 'x', '--timeout', '2h'], options);
    const id = await first.says(/registered job: (\S+)/);
    await first.says(/working|notBegun/);
    await expect.poll(() => p.starts().length).toBe(1);

    first.child.kill('SIGSTOP');
    setTime(clock, START + LEASE_MS + 1_000);
    const second = p.start(['resume', id], options);
    await second.says(new RegExp(id));
    writeFileSync(join(p.dir, 'go'), '');
    expect((await second.ended).code).toBe(0);
    const asOfSecond = (await p.log(id)).length;

    first.child.kill('SIGCONT');
    const { code } = await first.ended;
    expect(code).toBe(0);
    const log = (await p.log(id)) as unknown as Entry[];
    expect(log.length).toBe(asOfSecond);
    expectOneDriverAtATime(log);
    expect(p.starts()).toHaveLength(1);
    expect(await p.status(id)).toMatchObject({ status: 'completed', exit: 0 });
  });

  it('many that want the same job at once: one drives it, the others are told', async () => {
    const p = project();
    const { options } = simulated(p);
    const first = p.start(['delegate', '--agent', 'slow', '--prompt', 'x', '--timeout', '2h'], options);
    const id = await first.says(/registered job: (\S+)/);
    await first.says(/working|notBegun/);
    first.child.kill('SIGKILL');
    await first.ended;
    const rivals = Array.from({ length: 4 }, () => p.start(['resume', id], options));
    await Promise.race(rivals.map((rival) => rival.says(/working|notBegun|injected/)));
    writeFileSync(join(p.dir, 'go'), '');
    const codes = await Promise.all(rivals.map(async (rival) => (await rival.ended).code));
    expect(codes).toContain(0);
    expectOneDriverAtATime((await p.log(id)) as unknown as Entry[]);
    expect(p.starts()).toHaveLength(1);
    expect(await p.status(id)).toMatchObject({ status: 'completed' });
  });
});

it('a driver whose successor is gone takes its job back', async () => {
  const p = project();
  const { clock, options } = simulated(p);
  const first = p.start(['delegate', '--agent', 'slow', '--prompt', 'x', '--timeout', '2h'], options);
  const id = await first.says(/registered job: (\S+)/);
  await first.says(/working|notBegun/);
  first.child.kill('SIGSTOP');
  setTime(clock, START + LEASE_MS + 1_000);
  const second = p.start(['resume', id], options);
  await second.says(/injected/);
  first.child.kill('SIGCONT');
  await first.says(/another driver has taken over/);
  second.child.kill('SIGKILL');
  await second.ended;
  writeFileSync(join(p.dir, 'go'), '');
  const moving = setInterval(() => setTime(clock, timeOf(clock) + 500), 50);
  const { code } = await first.ended.finally(() => clearInterval(moving));
  expect(code).toBe(0);
  expect(p.starts()).toHaveLength(1);
});
