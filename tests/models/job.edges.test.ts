// Level 2 on the pure kernel: every edge of the graph, refusals included. One test per edge; edges that differ only in what the
// broker's channel does, which no guard reads, share a test that plays each of them.
import { describe, expect, it } from 'vitest';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { type Decision, decide, wouldTake } from '../../src/kernel/decide.ts';
import { eventName } from './events.ts';
import { type Edge, explore, type Node, wayTo } from './graph.ts';
import { plain, played, wordsOf, wordsOfActions } from './play.ts';
import { stateName } from './view.ts';

const graph = explore();

/** The stored row of a node, reached by its shortest way; played once, since nothing may change a stored snapshot. */
const rows = new Map<Node, string>();
function rowOf(node: Node): Decision['next'] {
  const known = rows.get(node) ?? JSON.stringify(played(wayTo(node)).at(-1)?.next);
  rows.set(node, known);
  return JSON.parse(known) as Decision['next'];
}

function grouped(edges: readonly Edge[]): [string, Edge[]][] {
  const groups = new Map<string, Edge[]>();
  for (const edge of edges) {
    const name = `${stateName(edge.from.state, false)} -- ${eventName(edge.event, edge.from.state.context.lastPermission)}`;
    groups.set(name, [...(groups.get(name) ?? []), edge]);
  }
  return [...groups];
}

describe('every edge', () => {
  const groups = grouped(graph.edges.filter(({ refused }) => !refused));

  it.each(groups)('%s', (_, edges) => {
    for (const { from, to, event, actions, name } of edges) {
      const { snapshot } = rowOf(from);
      const before = plain(snapshot);
      const decision = decide(jobDefinition, snapshot, plain(event));
      expect(decision.taken, name).toBe(true);
      expect(plain(decision.next.snapshot.value), name).toEqual(plain(to.value));
      expect(decision.next.snapshot.context, name).toEqual(plain(to.context));
      expect(wordsOf(decision.effects), name).toEqual(wordsOfActions(actions));
      expect(decision.next.phase, name).toBe(jobDefinition.phaseOf(to));
      // A snapshot never changes: the registry may still hold the old one, if another driver was faster.
      expect(snapshot, name).toEqual(before);
      // What is remembered of a snapshot that was brought to life gives the same answer as one that comes from the store.
      expect(decide(jobDefinition, snapshot, plain(event)).next.snapshot, name).toEqual(decision.next.snapshot);
    }
  });

  it('all of them are played', () => {
    expect(groups.flatMap(([, edges]) => edges).length).toBe(graph.edges.filter(({ refused }) => !refused).length);
    expect(groups.length).toBeGreaterThan(4_000);
  });
});

describe('every refusal', () => {
  const refusals = new Map<Node, Edge[]>();
  for (const edge of graph.edges.filter(({ refused }) => refused))
    refusals.set(edge.from, [...(refusals.get(edge.from) ?? []), edge]);

  it.each([...refusals].map(([node, edges]) => [node.name, node, edges] as const))('%s', (_, node, edges) => {
    const { snapshot } = rowOf(node);
    const before = plain(snapshot);
    for (const { event, name } of edges) {
      const decision = decide(jobDefinition, snapshot, plain(event));
      expect(decision.taken, name).toBe(false);
      expect(decision.effects, name).toEqual([]);
      expect(decision.next.snapshot, name).toEqual(before);
      expect(wouldTake(jobDefinition, plain(before), plain(event)), name).toBe(false);
    }
    expect(edges.length).toBeGreaterThan(0);
  });

  it('a finished row refuses everything, also what only the kernel makes', () => {
    const internals = new Set(graph.edges.map(({ event }) => event.type).filter((type) => type.startsWith('xstate.')));
    expect(internals.size).toBeGreaterThan(25);
    for (const node of graph.nodes.filter(({ state }) => state.status === 'done')) {
      expect(
        node.edges.every(({ refused }) => refused),
        node.name,
      ).toBe(true);
      for (const type of internals)
        expect(decide(jobDefinition, rowOf(node).snapshot, { type }).taken, `${node.name} ${type}`).toBe(false);
    }
  });
});
