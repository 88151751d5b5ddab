// A row whose decision throws three times is faulted: shown, left to a build that can continue it, and closed failed
// `internal_error` at its deadline (section 4).
import { FAULT_LIMIT } from './admit.ts';
import type { Context } from './context.ts';
import type { MachineDefinition } from './definition.ts';
import type { Change, EffectWrite, LogEntry, OutsideRequest, Row } from './ports.ts';
import { messageOf } from './trouble.ts';

/** The kernel's own timer; no machine knows it. */
export const FAULT_TIMER = 'kernel.fault';

/** Counts a decision that threw. At the limit the clock for the forced end is armed: the job's own deadline where one runs. */
export async function noteFault(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  what: string,
  error: unknown,
): Promise<void> {
  const reason = messageOf(error);
  const count = row.faults + 1;
  const effects: EffectWrite[] = [];
  if (count === FAULT_LIMIT) {
    const timers = await context.registry.timers(row.id);
    // The first deadline stands: a row that faults again under another driver is not given more time.
    const deadline =
      timers.find(({ delay }) => delay === FAULT_TIMER) ?? timers.find(({ delay }) => delay === 'deadline');
    const afterMs = deadline ? Math.max(0, deadline.fireAt - context.registry.now()) : definition.faultedMs(row.spec);
    const timer = { id: FAULT_TIMER, delay: FAULT_TIMER, event: { type: FAULT_TIMER }, silence: false };
    effects.push({ kind: 'disarm', timerId: FAULT_TIMER }, { kind: 'arm', timer, afterMs });
    context.warn(`job ${row.id} is faulted: ${reason}`);
  }
  await context.registry.commit(row, {
    faults: { count, reason },
    effects,
    log: {
      from: 'kernel',
      what: 'fault',
      verdict: 'refused',
      reason,
      data: { what, count },
      driver: context.record.id,
    },
  });
}

/** What a person may still ask of a faulted row: its end. */
export const isForPerson = (request: OutsideRequest & { from: 'person' }): boolean =>
  request.event.type === 'cancelled' || request.event.type === 'deadline_timeout';

/** The end of a row whose machine cannot be asked: its effects are stopped and its timers disarmed by name. */
export async function forceEnd(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  log: LogEntry,
): Promise<Change> {
  const { next, cleanup } = definition.forcedEnd(row.snapshot);
  const work = await context.registry.openWork(row.id);
  const timers = await context.registry.timers(row.id);
  return {
    next,
    effects: [
      ...work.map(({ invokeId }): EffectWrite => ({ kind: 'stop', invokeId })),
      ...timers.map(({ id }): EffectWrite => ({ kind: 'disarm', timerId: id })),
      { kind: 'cleanup', input: cleanup },
    ],
    faults: { count: 0, reason: row.faultReason },
    log: { ...log, reason: 'internal_error' },
    durable: true,
  };
}
