import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { hostIdentity } from '../../src/transports/host.ts';
import {
  groupMembers,
  identify,
  isAlive,
  isProvenDead,
  isProvenGone,
  selfRecord,
  signalTo,
} from '../../src/transports/process.ts';
import { parseStat, seeByPs } from '../../src/transports/process-table.ts';
import { eventually } from './eventually.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
const start = (script: string): ChildProcess => {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
};
const [machine, boot, pids] = hostIdentity().split(':');

it('reads the fields behind a command name that looks like fields', () => {
  const tail = `S 1 77 77 0 -1 4194304 ${'0 '.repeat(12)}4242 1 2`;
  const fields = tail.split(' ');
  expect(fields[19]).toBe('4242');
  expect(parseStat(`99 (a) Z 5 (\n) ${tail}`)).toEqual({ pid: 99, group: 77, started: '4242', zombie: false });
  expect(parseStat(`99 (x) ${tail.replace('S', 'Z')}`)?.zombie).toBe(true);
  expect(parseStat('')).toBeNull();
});

it('names a host by machine, boot and pid namespace', () => {
  expect(hostIdentity().split(':')).toHaveLength(3);
  expect([machine, boot, pids]).not.toContain('');
});

it('knows a living process by pid and start time, and nothing else', () => {
  const child = identify(start('sleep 1000').pid!)!;
  expect(isAlive(child)).toBe(true);
  expect(isProvenGone(child)).toBe(false);
  const reused = { ...child, started: `${child.started}0` };
  expect(isAlive(reused)).toBe(false);
  expect(isProvenGone(reused)).toBe(true);
  expect(signalTo(reused, 'SIGKILL')).toBe(false);
  expect(isAlive(child)).toBe(true);
});

it('counts a zombie as dead, also in its group', async () => {
  const parent = start('sleep 0.2 & echo $!; exec sleep 1000');
  const [text] = await once(parent.stdout!, 'data');
  const zombie = identify(Number(String(text)))!;
  await eventually(() => seeByPs(zombie.pid)[0]?.zombie === true);
  expect(isAlive(zombie)).toBe(false);
  expect(isProvenGone(zombie)).toBe(true);
  expect(groupMembers(identify(parent.pid!)!).map(({ pid }) => pid)).toEqual([parent.pid]);
});

it('sees by ps what /proc says', () => {
  const child = start('sleep 1000');
  expect(seeByPs(child.pid!)).toEqual([
    { pid: child.pid, group: child.pid, started: expect.stringMatching(/\d\d:\d\d:\d\d \d{4}$/), zombie: false },
  ]);
  expect(seeByPs().some(({ pid }) => pid === child.pid)).toBe(true);
});

it('proves a driver dead only where pids can be compared', async () => {
  const self = selfRecord('d1', 'build 1');
  expect(self).toMatchObject({ id: 'd1', build: 'build 1', pid: process.pid, host: hostIdentity() });
  expect(isProvenDead(self, self)).toBe(false);

  const child = start('sleep 1000');
  const other = { ...self, id: 'd2', ...identify(child.pid!)! };
  expect(isProvenDead(other, self)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isProvenDead(other, self)).toBe(true);

  const on = (host: string) => ({ ...other, host });
  expect(isProvenDead(on(`elsewhere:${boot}:${pids}`), self), 'another machine').toBe(false);
  expect(isProvenDead(on(`${machine}:${boot}:pid_[1]`), self), 'another pid namespace').toBe(false);
  expect(isProvenDead({ ...self, host: `${machine}:an-older-boot:${pids}` }, self), 'an older boot').toBe(true);
  expect(isProvenDead({ ...self, host: `elsewhere:an-older-boot:${pids}` }, self), 'another machine’s boot').toBe(
    false,
  );
  for (const unknown of [`${machine}::${pids}`, `:${boot}:${pids}`, `${machine}:${boot}:`, '']) {
    expect(isProvenDead(on(unknown), self), `host ${unknown}`).toBe(false);
  }
  expect(isProvenDead(other, { ...self, host: `${machine}::${pids}` }), 'own boot unknown').toBe(false);
});
