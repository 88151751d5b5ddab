// Level 5: random walks on the real store. Anything may come at any time, twice, late, out of a dead driver's hands; drivers die
// between and inside commits. After each step the row is what XState says of the events that the page's table admits.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { drain } from '../../src/kernel/drain.ts';
import { handle } from '../../src/kernel/handle.ts';
import type { OutsideRequest, Request } from '../../src/kernel/ports.ts';
import { makeSqliteStore, type SqliteStore } from '../registry/sqlite-store.ts';
import { DrivenJob, type Kill } from './driven.ts';
import { type ModelEvent, outsideEvents, ownEvents } from './events.ts';
import { ALL_WAYS, INPUT, type JobState } from './graph.ts';
import { columnOf, effectsOf, reportCell, TABLE_OF_THE_PAGE, timersOf } from './page.ts';
import { plain } from './play.ts';
import { storedBeginning } from './stored.ts';
import { viewOf } from './view.ts';

let store: SqliteStore;
beforeAll(async () => {
  store = await makeSqliteStore();
});
afterAll(() => store.dispose());

interface Step {
  pick: number;
  /** Own events are few among many; without a preference no walk would get far. */
  own: boolean;
  /** May lead out of what is open. Most words of a person or an agent do, and a walk that ends at once sees nothing. */
  ends: boolean;
  kill: Kill | null;
  crash: boolean;
  again: boolean;
}

const oneIn = (n: number) => fc.integer({ min: 1, max: n }).map((drawn) => drawn === n);
const step = fc.record<Step>({
  pick: fc.nat(10_000),
  own: fc.boolean(),
  ends: oneIn(12),
  kill: fc.constantFrom(null, null, null, 'before' as const, 'after' as const),
  crash: oneIn(6),
  again: oneIn(4),
});

function expected(state: JobState, event: ModelEvent): JobState {
  const line = TABLE_OF_THE_PAGE[event.type];
  const cell = line?.[columnOf(viewOf(state))];
  const admitted = !line || (cell === 'report' ? reportCell(event.type, state.context) : cell) === 'take';
  if (!admitted || state.status !== 'active' || !state.can(event as never)) return state;
  return transition(jobMachine, state as never, event as never)[0] as unknown as JobState;
}

/** News need an effect that tells them, and a step one that takes it; a step is marked once in an attempt. */
function canCome(job: DrivenJob, event: ModelEvent, marked: ReadonlySet<string>): boolean {
  if (event.type in TABLE_OF_THE_PAGE || event.type.startsWith('xstate.')) return true;
  if (event.type !== 'step.started') return job.running().length > 0;
  return !marked.has(String(event.step)) && job.running().includes(event.step === 'remind-paste' ? 'remind' : 'inject');
}

/** Open, closing, closed: a gentle step does not go down. */
const stepsOf = (state: JobState): number =>
  state.hasTag('pending') || state.hasTag('injected') ? 2 : state.status === 'active' ? 1 : 0;

const lastPermission = (state: JobState) => state.context.lastPermission;
const visited = new Set<string>();

async function walk(busOnly: boolean, steps: readonly Step[]): Promise<void> {
  const input = busOnly ? INPUT : ALL_WAYS;
  const { registry, clock } = store;
  const job = await DrivenJob.at(registry, clock, storedBeginning(jobDefinition, input));
  let [state] = initialTransition(jobMachine, input) as unknown as [JobState];
  const marked = new Set<string>();
  const old: Request[] = [];
  for (const { pick, own, ends, kill, crash, again } of steps) {
    clock.advance(1);
    if (crash) await job.adopt();
    const mine = state.status === 'active' ? ownEvents(state).filter(({ type }) => runs(job, type)) : [];
    const all = own && mine.length > 0 ? mine : [...outsideEvents(lastPermission(state)), ...mine];
    const come = all.filter((event) => canCome(job, event, marked));
    const gentle = come.filter((event) => stepsOf(expected(state, event)) >= stepsOf(state));
    const events = ends || gentle.length === 0 ? come : gentle;
    const event = events[pick % events.length];
    if (!event) continue;
    if (event.type === 'step.started') marked.add(String(event.step));
    const request = await job.request(event);
    await job.play(event, kill, request);
    state = expected(state, event);
    await compare(job, state, event.type);
    if (again) await sayAgain(job, [...old, request]);
    old.push(request);
    await compare(job, state, `${event.type}, and old ones again`);
    visited.add(JSON.stringify(state.value));
  }
  for (const [name, count] of job.acts) expect(count, name).toBe(1);
}

/** What ends while its state goes on. */
const MAY_BE_OVER = ['watch', 'followBus'];

/** The watcher may have ended: then it cannot end again, although its state still listens. */
const runs = (job: DrivenJob, type: string): boolean =>
  !/^xstate\.(done|error)\.actor\./.test(type) || job.running().includes(type.split('.')[3] ?? '');

/** Envelopes that come by a second way, results and timers out of an earlier time. */
async function sayAgain(job: DrivenJob, requests: readonly Request[]): Promise<void> {
  const { context, held } = job.driver;
  for (const request of requests) {
    if (request.from === 'agent' || request.from === 'person') {
      await store.registry.deliver(request as OutsideRequest, job.id, 'bus');
      continue;
    }
    if (request.from === 'effect' && !request.event.type.startsWith('xstate.')) continue;
    const current =
      request.from === 'effect'
        ? (await store.registry.openWork(job.id)).some(({ id }) => id === request.outboxId)
        : await stands(job, request);
    if (!current) expect(await handle(context, job.id, request)).toMatchObject({ verdict: 'refused' });
  }
  await drain(context, held);
}

async function stands(job: DrivenJob, request: Request): Promise<boolean> {
  if (request.from !== 'clock') return false;
  const { id, armedVersion } = request.timer;
  return (await job.timers()).some((timer) => timer.id === id && timer.armedVersion === armedVersion);
}

async function compare(job: DrivenJob, state: JobState, name: string): Promise<void> {
  const row = await job.row();
  expect(row.snapshot.value, name).toEqual(plain(state.value));
  expect(row.outcome, name).toEqual(state.context.outcome);
  expect(row.snapshot.context.deliveryStarted, name).toBe(state.context.deliveryStarted);
  const ended = state.status === 'done';
  expect((await job.timers()).map(({ delay }) => delay).sort(), name).toEqual(ended ? [] : timersOf(viewOf(state)));
  const page = ended ? [] : effectsOf(viewOf(state));
  expect(
    page.filter((id) => !MAY_BE_OVER.includes(id)),
    name,
  ).toEqual((await job.open()).filter((id) => !MAY_BE_OVER.includes(id)));
  expect(job.running(), name).toEqual(await job.open());
}

it('random walks', async () => {
  const seed = Number(process.env.SEED ?? 2026);
  const numRuns = Number(process.env.RUNS ?? 120);
  await fc.assert(fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 10, maxLength: 40 }), walk), {
    seed,
    numRuns,
  });
  // Walks that never get anywhere prove nothing.
  expect(visited.size).toBeGreaterThan(40);
  expect([...visited].some((value) => value.includes('verifying'))).toBe(true);
  expect([...visited].some((value) => value.includes('injected'))).toBe(true);
}, 600_000);
