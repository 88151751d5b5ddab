// Levels 2 and 4 on the real store: ways through the graph, played through the registry and the kernel's own parts; once
// undisturbed, and with a driver that dies between the steps, before a commit, and after it before anybody learns of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';
import { DrivenJob, type Kill } from './driven.ts';
import { type Edge, explore, type Node, wayTo } from './graph.ts';
import { plain } from './play.ts';
import { storedBeginning } from './stored.ts';

let store: SqliteStore;
beforeAll(async () => {
  store = await makeSqliteStore();
});
afterAll(() => store.dispose());

const graph = explore();
/** A way that is the beginning of another one is played with that one. */
const ways = (() => {
  const inner = new Set(graph.nodes.map(({ last }) => last?.from));
  return graph.nodes.filter((node) => !inner.has(node));
})();

type Disturbance = 'none' | 'between' | Kill;

async function playDriven(node: Node, disturbance: Disturbance): Promise<void> {
  const { registry, clock } = store;
  const job = await DrivenJob.at(registry, clock, storedBeginning());
  /** When each timer that stands will fire. */
  const due = new Map<string, number>(
    [...graph.start.running.timers].map(([delay, { ms }]) => [delay, clock.now() + ms]),
  );
  await check(job, graph.start.state, graph.start.running, due, 'the start');
  for (const edge of wayTo(node)) {
    clock.advance(1);
    if (disturbance === 'between') await job.adopt();
    const before = await job.row();
    const answer = await job.play(edge.event, disturbance === 'before' || disturbance === 'after' ? disturbance : null);
    moveTimers(due, edge, clock.now());
    await check(job, edge.to, edge.running, due, edge.name);
    if (answer) expect(answer, edge.name).toMatchObject({ verdict: 'take', version: before.version + 1, reason: null });
    expect((await job.row()).version, edge.name).toBe(before.version + 1);
  }
  for (const [step, count] of job.acts) expect(count, step).toBeLessThanOrEqual(1);
  expect(job.warnings.filter((warning) => !warning.includes('killed') && !warning.includes('dead driver'))).toEqual([]);
}

function moveTimers(due: Map<string, number>, { from, running }: Edge, now: number): void {
  for (const delay of due.keys()) if (!running.timers.has(delay)) due.delete(delay);
  for (const [delay, { ms, since }] of running.timers) {
    if (from.running.timers.get(delay)?.since !== since) due.set(delay, now + ms);
  }
}

async function check(
  job: DrivenJob,
  state: Edge['to'],
  running: Edge['running'],
  due: ReadonlyMap<string, number>,
  name: string,
): Promise<void> {
  const row = await job.row();
  expect(row.snapshot.value, name).toEqual(plain(state.value));
  expect(row.snapshot.context, name).toEqual(plain(state.context));
  expect(row.outcome, name).toEqual(state.context.outcome);
  expect(row.cleanup, name).toBe(state.status === 'done' ? 'open' : 'none');
  expect(await job.open(), name).toEqual([...running.effects].sort());
  expect(job.running(), name).toEqual([...running.effects].sort());
  const timers = new Map((await job.timers()).map(({ delay, fireAt }) => [delay, fireAt]));
  expect(timers, name).toEqual(due);
}

it('there are enough ways, and they cover every node', () => {
  expect(ways.length).toBeGreaterThan(300);
  const covered = new Set(ways.flatMap((node) => wayTo(node).map(({ target }) => target)));
  expect(graph.nodes.filter((node) => node !== graph.start && !covered.has(node))).toEqual([]);
});

describe('undisturbed', () => {
  it.each(ways.map((node): [string, Node] => [node.name, node]))('%s', (_, node) => playDriven(node, 'none'));
});

describe.each<Disturbance>(['between', 'before', 'after'])('the driver dies %s', (disturbance) => {
  // A third of the ways each; together with the undisturbed ones every node is disturbed once.
  const part = ways.filter((_, i) => i % 3 === ['between', 'before', 'after'].indexOf(disturbance));
  it.each(part.map((node): [string, Node] => [node.name, node]))('%s', (_, node) => playDriven(node, disturbance));
});
