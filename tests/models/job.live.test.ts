// Level 2 on a live actor: the same ways and edges, played against XState itself. What the pure kernel makes rows of (timers,
// effects, cleanup) must be what a running machine would have.
import { afterAll, describe, expect, it } from 'vitest';
import { jobMachine } from '../../machines/job/machine.ts';
import { eventName } from './events.ts';
import { branchesOf, type Edge, explore, type Node, wayTo } from './graph.ts';
import { LiveJob, type Taken } from './live.ts';
import { plain } from './play.ts';
import { placeName } from './view.ts';

const graph = explore();
const names = new Map(
  [...branchesOf(jobMachine)].map(([branch, name]) => [keyOfBranch(branch as unknown as Taken, name), name]),
);
const seen = new Set<string>();

/** provide() makes new transitions: they are told apart by source, event and guard. */
function keyOfBranch(branch: Taken, name = ''): string {
  const guard = typeof branch.guard === 'object' ? (branch.guard as { type: string }).type : branch.guard;
  const id = name === '' ? branch.source.id : name.split(' on ')[0]?.split(' always ')[0];
  return `${id} ${branch.eventType} ${String(guard)}`;
}

async function playLive(way: readonly Edge[]): Promise<void> {
  const job = new LiveJob((branch) => seen.add(keyOfBranch(branch)));
  try {
    for (const [i, edge] of way.entries()) {
      await job.play(edge.event);
      // On the way only the place is compared: each edge of it has a test of its own.
      if (i < way.length - 1) expect(job.state.value, edge.name).toEqual(plain(edge.to.value));
    }
    const last = way.at(-1);
    const { state, running } = last ? { state: last.to, running: last.running } : graph.start;
    expect(job.state.value).toEqual(plain(state.value));
    expect(plain(job.state.context)).toEqual(plain(state.context));
    expect(job.state.status).toBe(state.status);
    expect(job.running).toEqual([...running.effects].sort());
    expect(job.timers).toEqual([...running.timers.values()].map(({ ms }) => ms).sort());
    expect(job.plans).toEqual(running.cleanups);
    expect(job.starts.filter((name) => name === 'inject').length).toBeLessThanOrEqual(1);
  } finally {
    job.stop();
  }
}

describe('the shortest way to every node, live', () => {
  it.each(graph.nodes.map((node): [string, Node] => [node.name, node]))('%s', async (_, node) => playLive(wayTo(node)));
});

describe('every event in every place with every result, live', () => {
  // Edges that differ only in what the context remembers share one test here; on the kernel each is played by itself.
  const groups = new Map<string, Edge>();
  for (const edge of graph.edges) {
    if (edge.from.state.status !== 'active') continue;
    const event = eventName(edge.event, edge.from.state.context.lastPermission);
    const { outcome } = edge.to.context;
    const result = edge.refused ? 'refused' : `${placeName(edge.to)} ${outcome ? outcome.reason : ''}`;
    const name = `${placeName(edge.from.state)} -- ${event} -> ${result}`;
    if (!groups.has(name)) groups.set(name, edge);
  }

  it.each([...groups])('%s', async (_, edge) => playLive([...wayTo(edge.from), edge]));
});

afterAll(() => {
  // `always` branches are taken in the middle of a step, where the pure functions do not show them: only here they can be counted.
  expect([...names].filter(([key]) => !seen.has(key)).map(([, name]) => name)).toEqual([]);
  expect(names.size).toBeGreaterThan(100);
});
