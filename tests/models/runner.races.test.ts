// Level 3: two processes have read the same row. One commits first; the other's compare-and-set fails, and it decides again on
// what is there now. Every pair of events that the machine would take, in every place.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transition } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';
import { DrivenJob } from './driven.ts';
import { eventName, internal } from './events.ts';
import { type Edge, explore, type JobState, type Node, wayTo } from './graph.ts';
import { columnOf, reportCell, TABLE_OF_THE_PAGE } from './page.ts';
import { plain } from './play.ts';
import { stored } from './stored.ts';
import { placeName, viewOf } from './view.ts';

let store: SqliteStore;
beforeAll(async () => {
  store = await makeSqliteStore();
});
afterAll(() => store.dispose());

const graph = explore();
/** One node for each place; what the context remembers matters little to who comes first. */
const places = new Map<string, Node>();
for (const node of graph.nodes) {
  const { place, channel } = viewOf(node.state);
  const name = `${placeName(node.state)}${place === 'finalizing' ? ` ${node.state.context.outcome?.reason}` : ''}`;
  const chosen = place !== 'injected' || channel === 'open';
  if (node.state.status === 'active' && chosen && !places.has(name)) places.set(name, node);
}

/** What moves the state, one payload of each, and one word that moves nothing. */
function racers({ edges, state, running }: Node): Edge[] {
  const moves = edges.filter(({ refused, event, to }) => {
    if (refused || event.type === 'step.started') return false;
    const news = !event.type.startsWith('xstate.') && !(event.type in TABLE_OF_THE_PAGE);
    const moved = JSON.stringify(to.value) !== JSON.stringify(state.value);
    return (moved || event.type === 'started') && (!news || running.effects.size > 0);
  });
  return [...new Map(moves.map((edge) => [edge.event.type, edge])).values()];
}

/** What the kernel has to say to `a` after `b`: by the page's table, or by whether its timer or effect still is the same one. */
function afterwards(a: Edge, b: Edge): { state: JobState; taken: boolean } {
  const { kind, name } = internal(a.event.type);
  const state = b.to;
  const started = b.actions.flatMap(({ type, params }) =>
    type === 'xstate.spawnChild' ? [(params as { id: string }).id] : [],
  );
  let admitted = true;
  if (kind === 'timer') admitted = b.running.timers.get(name)?.since === a.from.running.timers.get(name)?.since;
  else if (kind !== null) admitted = b.running.effects.has(name) && !started.includes(name);
  else if (a.event.type in TABLE_OF_THE_PAGE) {
    const cell = TABLE_OF_THE_PAGE[a.event.type]?.[columnOf(viewOf(state))];
    admitted = (cell === 'report' ? reportCell(a.event.type, state.context) : cell) === 'take';
  } else {
    // News come with the outbox row of the effect that tells them: here the one that was started first.
    const [teller = ''] = a.from.running.effects;
    admitted = b.running.effects.has(teller) && !started.includes(teller);
  }
  if (!admitted || state.status !== 'active' || !state.can(a.event as never)) return { state, taken: false };
  return { state: transition(jobMachine, state as never, a.event as never)[0] as unknown as JobState, taken: true };
}

let pairs = 0;
describe.each([...places])('%s', (_, node) => {
  const edges = racers(node);
  it.each(edges.map((edge) => [eventName(edge.event, node.state.context.lastPermission), edge] as const))(
    '%s loses against each of the others',
    async (_, a) => {
      const row = stored(wayTo(node));
      for (const b of edges) {
        const name = `${eventName(b.event, 0)} before ${eventName(a.event, 0)}`;
        const job = await DrivenJob.at(store.registry, store.clock, row);
        const before = await job.row();
        const [loser, winner] = await job.race(a.event, b.event);
        const expected = afterwards(a, b);
        const after = await job.row();
        expect(winner?.verdict, name).toBe('take');
        expect(loser?.verdict === 'take', name).toBe(expected.taken);
        expect(after.snapshot.value, name).toEqual(plain(expected.state.value));
        expect(after.outcome, name).toEqual(expected.state.context.outcome);
        // Each commit raised the version once; the loser's answer names the version it was judged on.
        expect(after.version, name).toBe(before.version + (expected.taken ? 2 : 1));
        expect(loser?.version, name).toBe(after.version);
        pairs++;
      }
    },
  );
});

it('there were enough of them', () => {
  expect(places.size).toBeGreaterThan(35);
  expect(pairs).toBeGreaterThan(3_000);
});
