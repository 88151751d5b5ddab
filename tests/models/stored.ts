// Stored rows of the model: snapshot, timers and outbox as a registry would hold them after a way, with absolute times.
import { jobDefinition } from '../../src/jobs/definition.ts';
import { begin, type Decision, decide } from '../../src/kernel/decide.ts';
import type { MachineDefinition, Migratable } from '../../src/kernel/definition.ts';
import type { EffectWrite, Json, OutboxRow, TimerRow } from '../../src/kernel/ports.ts';
import { internal, type ModelEvent } from './events.ts';
import { type Edge, INPUT } from './graph.ts';
import { plain } from './play.ts';

/** Each decision takes one tick of the registry's clock. */
export interface Stored extends Migratable {
  now: number;
}

/** A result closes its outbox row and a fired timer is gone, then the decision's effects, in their order. */
function applied(before: Stored, decision: Decision, event: { type: string } | null, now: number): Stored {
  const { kind, name } = internal(event?.type ?? '');
  let timers = kind === 'timer' ? before.timers.filter((timer) => timer.id !== event?.type) : before.timers;
  let outbox =
    kind === 'done' || kind === 'error' ? before.outbox.filter(({ invokeId }) => invokeId !== name) : before.outbox;
  for (const effect of decision.effects) {
    if (effect.kind === 'arm') timers = [...timers, timerOf(effect, now)];
    else if (effect.kind === 'disarm') timers = timers.filter(({ id }) => id !== effect.timerId);
    else if (effect.kind === 'stop') outbox = outbox.filter(({ invokeId }) => invokeId !== effect.invokeId);
    else outbox = [...outbox, workOf(effect, now * 10 + outbox.length)];
  }
  return { snapshot: plain(decision.next.snapshot), timers, outbox, now };
}

const timerOf = ({ timer, afterMs }: EffectWrite & { kind: 'arm' }, now: number): TimerRow => ({
  job: 'job',
  ...timer,
  armedVersion: now,
  fireAt: now + afterMs,
});

function workOf(effect: EffectWrite & { kind: 'invoke' | 'cleanup' }, id: number): OutboxRow {
  const names =
    effect.kind === 'invoke' ? { invokeId: effect.invokeId, src: effect.src } : { invokeId: 'cleanup', src: 'cleanup' };
  return { id, job: 'job', attempt: 1, kind: effect.kind, ...names, input: effect.input, open: true };
}

export function storedBeginning(definition: MachineDefinition = jobDefinition, input: object = INPUT): Stored {
  const nothing = { snapshot: { status: '', value: null, context: {}, children: {} }, timers: [], outbox: [], now: 0 };
  return applied(nothing, begin(definition, plain(input) as Json), null, 1);
}

/** Throws if the machine refuses. */
export function next(before: Stored, event: ModelEvent, definition = jobDefinition, now = before.now + 1): Stored {
  const decision = decide(definition, before.snapshot, plain(event));
  if (!decision.taken) throw new Error(`${event.type} is refused`);
  return applied(before, decision, event, now);
}

export const stored = (way: readonly Edge[], input: object = INPUT): Stored =>
  way.reduce((row, { event }) => next(row, event), storedBeginning(jobDefinition, input));

/** Fires whatever is due first until the row has ended; gives the number of timers it took. Throws if it waits for nothing. */
export function endByTime(row: Stored, definition: MachineDefinition = jobDefinition, limit = 500): number {
  let at = row;
  for (let fired = 0; fired < limit; fired++) {
    if (at.snapshot.status === 'done') return fired;
    const [first] = [...at.timers].sort((a, b) => a.fireAt - b.fireAt);
    if (!first) throw new Error(`no timer stands in ${JSON.stringify(at.snapshot.value)}`);
    at = next(at, first.event, definition, Math.max(at.now, first.fireAt));
  }
  throw new Error(`not ended after ${limit} timers: ${JSON.stringify(at.snapshot.value)}`);
}
