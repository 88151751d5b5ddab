// Level 2 on the pure kernel: a shortest way to every node, and simple ways where they do not explode.
import { describe, expect, it } from 'vitest';
import { getSimplePaths } from 'xstate/graph';
import { jobMachine } from '../../machines/job/machine.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { begin, decide } from '../../src/kernel/decide.ts';
import { eventName, eventsFor, type ModelEvent } from './events.ts';
import { type Edge, explore, INPUT, type JobState, keyOf, type Node, wayTo } from './graph.ts';
import { beginning, plain, played, throughStore, wordsOf, wordsOfActions } from './play.ts';
import { placeName, viewOf } from './view.ts';

const graph = explore();

function expectSame(decision: ReturnType<typeof beginning>, state: JobState, name: string): void {
  const { snapshot, phase, outcome, state: shown } = decision.next;
  expect(snapshot.status, name).toBe(state.status);
  expect(snapshot.value, name).toEqual(plain(state.value));
  expect(snapshot.context, name).toEqual(plain(state.context));
  expect(Object.keys(snapshot.children).sort(), name).toEqual(Object.keys(state.children).sort());
  expect([phase, shown, outcome], name).toEqual([
    jobDefinition.phaseOf(state),
    jobDefinition.stateOf(state),
    jobDefinition.outcomeOf(state),
  ]);
}

it('begins as XState does', () => {
  const first = beginning();
  expectSame(first, graph.start.state, 'the start');
  expect(wordsOf(first.effects)).toEqual(wordsOfActions(graph.startActions));
});

it('an input that the machine cannot begin with throws instead of making a row', () => {
  const broken = {
    ...jobDefinition,
    logic: jobMachine.provide({
      delays: {
        queueTimeout: () => {
          throw new Error('no limit');
        },
      },
    }),
  };
  expect(() => begin(broken, plain(INPUT))).toThrow('no limit');
});

describe('the shortest way to every node', () => {
  it.each(graph.nodes.map((node): [string, Node] => [node.name, node]))('%s', (_, node) => {
    const way = wayTo(node);
    const decisions = played(way);
    way.forEach((edge, i) => {
      const decision = decisions[i + 1] as (typeof decisions)[number];
      expect(decision.taken, edge.name).toBe(true);
      expectSame(decision, edge.to, edge.name);
      expect(wordsOf(decision.effects), edge.name).toEqual(wordsOfActions(edge.actions));
    });
    expect(decisions).toHaveLength(way.length + 1);
  });

  it('is a chain from the start that visits no node twice', () => {
    expect(graph.nodes.length).toBeGreaterThan(800);
    for (const node of graph.nodes) {
      const way = wayTo(node);
      expect(way.length, node.name).toBe(node.depth);
      expect(
        way.every((edge: Edge, i) => edge.from === (i === 0 ? graph.start : way[i - 1]?.target)),
        node.name,
      ).toBe(true);
      expect(new Set(way.map(({ from }) => from)).size, node.name).toBe(way.length);
    }
  });
});

/** In finalizing the ways are few: every simple one from each way into it to an end. In injected they would have no end. */
describe('every simple way through finalizing', () => {
  const starts = new Map<string, Node>();
  for (const node of graph.nodes) {
    const { outcome, turnRuns } = node.state.context;
    if (viewOf(node.state).part === 'draining') starts.set(`${outcome?.status} ${outcome?.reason} ${turnRuns}`, node);
  }
  const ways = [...starts].flatMap(([name, node]) => {
    const options = {
      fromState: node.state,
      events: (state: JobState) => eventsFor(state).filter((event) => state.can(event as never)),
      serializeState: keyOf,
      toState: (state: JobState) => state.status === 'done',
      stopWhen: (state: JobState) => state.status === 'done',
      limit: 20_000,
    };
    const paths = getSimplePaths(jobMachine as never, options as never) as {
      steps: { event: ModelEvent; state: JobState }[];
    }[];
    return paths.map(({ steps }) => {
      const events = steps.slice(1).map(({ event }) => event);
      const said = events.map((event) => eventName(event, node.state.context.lastPermission)).join(', ');
      return { name: `${placeName(node.state)} ${name}: ${said}`, node, events, steps: steps.slice(1) };
    });
  });

  it('there are enough of them', () => {
    expect(starts.size).toBeGreaterThan(8);
    expect(ways.length).toBeGreaterThan(150);
  });

  it.each(ways.map((way) => [way.name, way] as const))('%s', (_, { node, events, steps }) => {
    let decision = played(wayTo(node)).at(-1) as ReturnType<typeof beginning>;
    events.forEach((event, i) => {
      decision = throughStore(decide(jobDefinition, decision.next.snapshot, plain(event)));
      const state = steps[i]?.state as JobState;
      expect(decision.taken).toBe(true);
      expect(decision.next.snapshot.value).toEqual(plain(state.value));
      expect(decision.next.outcome).toEqual(state.context.outcome);
    });
    expect(decision.next.snapshot.status).toBe('done');
    expect(decision.effects.filter(({ kind }) => kind === 'cleanup')).toHaveLength(1);
  });
});
