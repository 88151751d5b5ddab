// The whole reachable graph of a job machine: every state that can be told apart by what guards read, every event in it, and
// what the kernel would have to do. Breadth first, so that each node is found on a shortest way.
import { type AnyMachineSnapshot, type AnyStateMachine, initialTransition, transition } from 'xstate';
import { getStateNodes } from 'xstate/graph';
import { Limits } from '../../machines/job/events.ts';
import { jobMachine } from '../../machines/job/machine.ts';
import type { JobContext } from '../../machines/job/setup.ts';
import { eventName, eventsFor, type ModelEvent } from './events.ts';
import { after, consumed, nothing, type Running } from './running.ts';
import { stateName } from './view.ts';

export type JobState = AnyMachineSnapshot & { context: JobContext };

/** All different, so that a timer can be told by its length alone. */
export const LIMITS: Limits = Limits.parse({
  queue: 101,
  preflight: 102,
  idleProbe: 103,
  idleBackoff: 104,
  openWays: 105,
  deadline: 106,
  typing: 107,
  idle: 108,
  permission: 109,
  quiet: 110,
  diskPoll: 111,
  drain: 112,
  verify: 113,
  settle: 114,
});
/** A job whose agent can speak by the bus alone: while the bus is there, it is as any other (job.bus.test.ts proves that of both
 *  whole graphs), and while it is away, more can happen. So this is the graph that every level plays. */
export const INPUT = { idleRetries: 1, busOnly: true, limits: LIMITS };
export const ALL_WAYS = { ...INPUT, busOnly: false };

export interface Action {
  type: string;
  params?: unknown;
}

/** A transition as the machine's author wrote it; one branch of a guarded list. */
export interface Branch {
  guard?: unknown;
  meta?: { rule?: string };
  eventType: string;
}

export interface Node {
  key: string;
  name: string;
  state: JobState;
  /** The edge of the shortest way that ends here; null for the start. */
  last: Edge | null;
  depth: number;
  running: Running;
  edges: Edge[];
}

export interface Edge {
  name: string;
  from: Node;
  event: ModelEvent;
  /** No branch is enabled: the machine refuses. */
  refused: boolean;
  branches: readonly Branch[];
  /** The very state that follows; `target` is the node that stands for it. */
  to: JobState;
  target: Node;
  actions: readonly Action[];
  running: Running;
}

export interface Graph {
  start: Node;
  nodes: Node[];
  edges: Edge[];
  startActions: readonly Action[];
}

/**
 * Exactly what a guard or the cleanup plan reads. Two of them only as long as somebody can read them: the retries until
 * idle-wait is over, and having heard from the agent until the delivery is accepted or the attempt ends.
 */
export function keyOf(state: JobState): string {
  const { context } = state;
  const injected = state.hasTag('injected');
  const pending = state.hasTag('pending');
  const value = JSON.stringify(state.value);
  return JSON.stringify([
    state.status,
    value,
    context.outcome,
    context.hold === 'dialog',
    context.deliveryStarted,
    context.reminded,
    context.turnRuns,
    context.lastPermission > 0,
    pending && context.idleRetries,
    (pending || (injected && !value.includes('"delivery":"accepted"'))) && context.heardFromAgent,
    // In injected the channel's own state says it.
    value.includes('"subscribed"') && context.busOnly && context.busAway !== null,
  ]);
}

export interface Exploring {
  machine?: AnyStateMachine;
  input?: object;
  /** Throws if there are more states: then the key holds something that has no end. */
  limit?: number;
  /** Nodes outside are found, but not left again. */
  within?: (state: JobState) => boolean;
}

export function explore({
  machine = jobMachine,
  input = INPUT,
  limit = 20_000,
  within = () => true,
}: Exploring = {}): Graph {
  const nodes = new Map<string, Node>();
  const add = (state: JobState, last: Edge | null, running: Running): Node => {
    const key = keyOf(state);
    const known = nodes.get(key);
    if (known) return known;
    if (nodes.size >= limit) throw new Error(`more than ${limit} states`);
    const depth = last ? last.from.depth + 1 : 0;
    const node: Node = { key, name: stateName(state), state, last, depth, running, edges: [] };
    nodes.set(key, node);
    return node;
  };
  const [state, startActions] = initialTransition(machine, input as never) as unknown as [JobState, Action[]];
  const start = add(state, null, after(nothing(), startActions));
  // A Map keeps the order of insertion and its iterator sees what is added meanwhile: this is the queue.
  for (const node of nodes.values()) {
    if (!within(node.state)) continue;
    for (const event of eventsFor(node.state)) node.edges.push(edgeOf(machine, node, event, add));
  }
  const all = [...nodes.values()];
  return { start, nodes: all, edges: all.flatMap((node) => node.edges), startActions };
}

function edgeOf(
  machine: AnyStateMachine,
  from: Node,
  event: ModelEvent,
  add: (state: JobState, last: Edge, running: Running) => Node,
): Edge {
  // transition() would run handlers of a finished snapshot; the kernel never asks it to.
  const branches = (from.state.status === 'active' ? machine.getTransitionData(from.state, event) : []) as Branch[];
  const refused = branches.length === 0;
  const [to, actions] = refused
    ? [from.state, []]
    : (transition(machine, from.state, event) as unknown as [JobState, Action[]]);
  const said = eventName(event, from.state.context.lastPermission);
  const name = refused ? `${from.name} refuses ${said}` : `${from.name} -- ${said} -> ${stateName(to)}`;
  const running = refused ? from.running : after(consumed(from.running, event), actions);
  const edge: Edge = { name, from, event, refused, branches, to, actions, target: from, running };
  if (!refused) edge.target = add(to, edge, edge.running);
  return edge;
}

/** The shortest way from the start: the edges in order. */
export function wayTo(node: Node): Edge[] {
  const way: Edge[] = [];
  for (let edge = node.last; edge; edge = edge.from.last) way.unshift(edge);
  return way;
}

/** Every branch of the machine, named by source, event and position. */
export function branchesOf(machine: AnyStateMachine): Map<Branch, string> {
  const all = new Map<Branch, string>();
  for (const node of new Set([machine.root, ...getStateNodes(machine)])) {
    for (const [event, list] of node.transitions) {
      list.forEach((branch, i) => {
        all.set(branch as Branch, `${node.id} on ${event} [${i}]`);
      });
    }
    (node.always ?? []).forEach((branch, i) => {
      all.set(branch as Branch, `${node.id} always [${i}]`);
    });
  }
  return all;
}
