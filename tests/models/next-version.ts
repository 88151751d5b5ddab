// A toy job@2: one state renamed, one effect renamed, one timer added. Made by changing the real machine's own config, so that
// it always differs from today's machine in exactly these three things.
import { createMachine } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { MachineDefinition, Migratable } from '../../src/kernel/definition.ts';
import type { ModelEvent } from './events.ts';

type Tree = { [key: string]: Tree } & { after?: unknown };

/** Functions and combined guards are kept as they are; objects and lists are new. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, below]) => [key, copied(below)]));
  return value;
}

function at(tree: Tree, ...path: string[]): Tree {
  return path.reduce((here, key) => {
    const below = here[key];
    if (!below) throw new Error(`job@1 has no ${path.join('.')} any more`);
    return below;
  }, tree);
}

function changedMachine() {
  const config = copied(jobMachine.config) as Tree;
  const dispatched = at(config, 'states', 'dispatched');
  const { subscribed, ...others } = at(dispatched, 'states');
  Object.assign(dispatched, { initial: 'opening', states: { opening: subscribed, ...others } });
  const injected = at(dispatched, 'states', 'injected', 'states');
  Object.assign(at(injected, 'delivery', 'states', 'submitting', 'invoke'), { id: 'deliver', src: 'deliver' });
  at(injected, 'turn', 'states', 'settled', 'states', 'reminding').after = { reminderLimit: { target: 'waiting' } };
  const { actors, delays, ...rest } = jobMachine.implementations;
  const { inject, ...otherActors } = actors as Record<string, unknown>;
  return createMachine(
    config as never,
    {
      ...rest,
      actors: { ...otherActors, deliver: inject },
      delays: { ...delays, reminderLimit: 115 },
    } as never,
  );
}

const NEW_TIMER = 'xstate.after.reminderLimit.job.dispatched.injected.turn.settled.reminding';

/** What was written under job@1, as job@2 would have written it. */
export const renamed = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll('{"dispatched":"subscribed"}', '{"dispatched":"opening"}')
      .replaceAll('job.dispatched.subscribed', 'job.dispatched.opening')
      .replaceAll(/"inject"/g, '"deliver"'),
  ) as Value;

export const renamedEvent = (event: ModelEvent): ModelEvent => ({
  ...event,
  type: renamed(event.type).replace(/^(xstate\.(?:done|error)\.actor\.)inject$/, '$1deliver'),
});

export const renames = ({ snapshot, timers, outbox }: Migratable): Migratable => renamed({ snapshot, timers, outbox });

/** The whole migration: renames, and the new timer for rows that are in its state, due with the deadline. */
export function toVersion2(old: Migratable): Migratable {
  const to = renames(old);
  const deadline = to.timers.find(({ delay }) => delay === 'deadline');
  if (!deadline || !JSON.stringify(to.snapshot.value).includes('"settled":"reminding"')) return to;
  const timer = { ...deadline, id: NEW_TIMER, delay: 'reminderLimit', event: { type: NEW_TIMER } };
  return { ...to, timers: [...to.timers, timer] };
}

export const job2: MachineDefinition = {
  ...jobDefinition,
  version: 2,
  logic: changedMachine(),
  migrations: { 1: toVersion2 },
};
