// The same idea with the published @xstate/test (1.0.0-beta.5, the last for XState 5). Its createTestModel refuses machines with
// `invoke` or `after`, so it gets finalizing alone, with results and timers as ordinary events of the same names; what it
// generates is played on the kernel with the real machine. The large suite beside it uses xstate/graph.
import { createTestModel } from '@xstate/test';
import { describe, expect, it } from 'vitest';
import { createMachine, initialTransition } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { decide } from '../../src/kernel/decide.ts';
import type { PersistedSnapshot } from '../../src/kernel/ports.ts';
import { type ModelEvent, outsideEvents, ownEvents } from './events.ts';
import { explore, type JobState, type Node } from './graph.ts';
import { plain } from './play.ts';
import { persisted } from './requests.ts';
import { viewOf } from './view.ts';

interface Config {
  invoke?: { id: string; onDone: unknown; onError: unknown };
  after?: Record<string, unknown>;
  on?: Record<string, unknown>;
  states?: Record<string, Config>;
  entry?: unknown;
}

/** The same states and branches, without anything that the test model would have to run. */
function withoutEffects({ invoke, after = {}, on = {}, states, ...rest }: Config, id: string): Config {
  const events = Object.fromEntries([
    ...Object.entries(on),
    ...(invoke
      ? [
          [`xstate.done.actor.${invoke.id}`, invoke.onDone],
          [`xstate.error.actor.${invoke.id}`, invoke.onError],
        ]
      : []),
    ...Object.entries(after).map(([delay, branches]) => [`xstate.after.${delay}.${id}`, branches]),
  ]);
  const below = Object.entries(states ?? {}).map(([name, state]) => [name, withoutEffects(state, `${id}.${name}`)]);
  return { ...rest, on: events, ...(states && { states: Object.fromEntries(below) }) };
}

function finalizingAlone(context: object) {
  const { finalizing, completed, failed, cancelled } = jobMachine.config.states as Record<string, Config>;
  // Without the cleanup action: beta.5 knows no actionExecutor, which XState 5.33 calls for every named action.
  const end = ({ entry: _, ...state }: Config = {}) => state;
  const ends = { completed: end(completed), failed: end(failed), cancelled: end(cancelled) };
  const states = { finalizing: withoutEffects(finalizing as Config, 'job.finalizing'), ...ends };
  const config = { id: 'job', context, initial: 'finalizing', states };
  return createMachine(config as never, { ...jobMachine.implementations, actors: {} } as never);
}

const graph = explore();
const nodeWith = (reason: string): Node => {
  const node = graph.nodes.find(
    ({ state }) => viewOf(state).part === 'draining' && state.context.outcome?.reason === reason,
  );
  if (!node) throw new Error(`nothing finalizes with ${reason}`);
  return node;
};

/** The row, moved by the kernel: the system under test. */
class Row {
  #snapshot: PersistedSnapshot;
  constructor(node: Node) {
    this.#snapshot = persisted(node.state);
  }
  send(event: { type: string }): void {
    this.#snapshot = plain(decide(jobDefinition, this.#snapshot, plain(event)).next.snapshot);
  }
  check(expected: JobState): void {
    expect(this.#snapshot.value).toEqual(plain(expected.value));
    expect(this.#snapshot.context.outcome).toEqual(plain(expected.context.outcome));
    expect(this.#snapshot.status).toBe(expected.status);
  }
}

it('createTestModel takes no machine with invokes or timers: hence the smaller one', () => {
  expect(() => createTestModel(jobMachine as never)).toThrow('not supported');
});

describe.each([
  ['idle_timeout', 30],
  ['reported', 5],
  ['agent_failed', 3],
  ['cancelled', 2],
])('finalizing(%s)', (reason, atLeast) => {
  const node = nodeWith(reason);
  const machine = finalizingAlone(node.state.context);
  // The whole list: in a state that does not listen to an event, the model must learn that nothing happens.
  const events = [
    ...outsideEvents(0),
    ...graph.nodes.filter(({ state }) => viewOf(state).place === 'finalizing').flatMap(({ state }) => ownEvents(state)),
  ];
  const distinct = [...new Map(events.map((event) => [JSON.stringify(event), event])).values()];
  const [fromState] = initialTransition(machine);
  const model = createTestModel(machine, {
    // No `input` here: without a first state the model of a machine with a context factory is one path long, and green.
    fromState,
    events: (() => distinct) as never,
    serializeState: ((state: JobState) => JSON.stringify([state.value, state.context.outcome])) as never,
  });
  const paths = [...model.getShortestPaths(), ...model.getSimplePaths()];

  it('gives enough paths', () => {
    expect(paths.length).toBeGreaterThanOrEqual(atLeast);
    expect(paths.some(({ state }) => (state as unknown as JobState).status === 'done')).toBe(true);
  });

  it.each(paths.map((path, i) => [`${i} ${path.description}`, path] as const))('%s', async (_, path) => {
    const row = new Row(node);
    let checked = 0;
    const result = await path.test({
      events: Object.fromEntries(
        distinct.map(({ type }) => [type, ({ event }: { event: ModelEvent }) => row.send(event)]),
      ) as never,
      states: {
        '*': (state) => {
          row.check(state as unknown as JobState);
          checked++;
        },
      },
    });
    expect(checked).toBe(result.steps.length);
    expect(checked).toBe(path.steps.length);
  });
});
