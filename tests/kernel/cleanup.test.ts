// Cleanup is done when everything is undone, and only then: a plan that was stopped, or that gave up, stays open for the next
// driver.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { abortTasks } from '../../src/kernel/tasks.ts';
import { DrivenJob } from '../models/driven.ts';
import { explore, wayTo } from '../models/graph.ts';
import { stored } from '../models/stored.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';

let store: SqliteStore;
let job: DrivenJob;
beforeEach(async () => {
  store = await makeSqliteStore();
  const ended = explore().nodes.find(({ state }) => state.status === 'done');
  job = await DrivenJob.at(store.registry, store.clock, stored(wayTo(ended!)));
});
afterEach(() => store.dispose());

const cleanupTask = () => {
  const task = [...job.driver.held.tasks.values()].find(({ work }) => work.kind === 'cleanup');
  if (!task) throw new Error('no cleanup runs');
  return task;
};
const isOpen = async (): Promise<boolean> => {
  const work = await store.registry.openWork(job.id);
  const { cleanup } = await job.row();
  expect(work.some(({ kind }) => kind === 'cleanup')).toBe(cleanup === 'open');
  return cleanup === 'open';
};

describe('a cleanup', () => {
  it('that is stopped is not done, and the next driver begins it again', async () => {
    const { done } = cleanupTask();
    abortTasks(job.driver.held);
    await done;
    expect(await isOpen()).toBe(true);
    await job.adopt();
    expect(job.driver.waiting.has('cleanup')).toBe(true);
  });

  it('that could not undo everything is not done', async () => {
    const { done } = cleanupTask();
    job.driver.waiting.get('cleanup')?.end(false);
    await done;
    expect(await isOpen()).toBe(true);
  });

  it('that has undone everything is done, once', async () => {
    const { done } = cleanupTask();
    job.driver.waiting.get('cleanup')?.end(true);
    await done;
    expect(await isOpen()).toBe(false);
    const log = await store.registry.log({ job: job.id });
    expect(log.filter(({ what }) => what === 'cleanup done')).toHaveLength(1);
  });
});
