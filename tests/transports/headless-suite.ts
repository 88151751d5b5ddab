// What the tests of the headless transport share. Importing it registers the check that a test leaves nothing behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import type { Delivery } from '../../machines/job/setup.ts';
import { identify, type ProcessIdentity } from '../../src/transports/process.ts';
import type { Place } from '../../src/transports/transport.ts';
import { eventually } from './eventually.ts';
import { createStepBook } from './hand.ts';
import { createHeadlessRig, type HeadlessRig } from './headless-rig.ts';
import { watchers } from './leaks.ts';

/** The rig of the running test, made by `use`. */
export let rig: HeadlessRig;
const bystanders: ChildProcess[] = [];

afterEach(async () => {
  for (const child of bystanders.splice(0)) child.kill('SIGKILL');
  await rig.transport.reap(rig.place, await rig.newest());
  expect(await rig.dispose()).toEqual([]);
  await eventually(() => watchers() === 0);
});

/** A process that has nothing to do with the run. */
export const bystander = (): ProcessIdentity => {
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  bystanders.push(child);
  return identify(child.pid!)!;
};

export const use = (argv?: string[]): HeadlessRig => {
  rig = createHeadlessRig(argv);
  return rig;
};
export const inject = async (place: Place = rig.place): Promise<Delivery> =>
  rig.transport.inject(place, createStepBook().hand({ driver: 'd1', fence: await rig.newest() }));
export const look = () => rig.transport.look(rig.place);
export const ended = async () => {
  await eventually(async () => !(await look()).alive);
  return look();
};
export const fileOf = (name: string) => join(rig.place.runDir, name);
export const json = (name: string) => JSON.parse(readFileSync(fileOf(name), 'utf8'));
export const pidOf = (name: string): number => json(name).pid;
