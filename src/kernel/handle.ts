// load → admit → decide → commit. The only way a row moves.

import { isEnd } from '../../machines/job/vocabulary.ts';
import { admit, FAULT_LIMIT, type Facts } from './admit.ts';
import { type Context, type Held, machineOf } from './context.ts';
import { begin, type Decision, decide, wouldTake } from './decide.ts';
import type { MachineDefinition } from './definition.ts';
import { forceEnd, isForPerson, noteFault } from './faults.ts';
import { carryOver, openWorkOf } from './open-work.ts';
import type { Answer, Cause, Change, Json, LogEntry, RefusalReason, Request, Row, VerdictKind } from './ports.ts';
import { isRegistryTrouble } from './trouble.ts';

export interface HandleOptions {
  /** The mark of a once step; it is committed together with the decision about `step.started`. */
  step?: { step: string; limitAt: number };
}

/** Gives the answer once it is committed; null if this driver does not hold the row, or the step was marked already. */
export function handle(
  context: Context,
  job: string,
  request: Request,
  options: HandleOptions = {},
): Promise<Answer | null> {
  const held = context.held.get(job);
  if (!held) return Promise.resolve(null);
  const answer = held.turn.then(() => handleNow(context, held, request, options));
  held.turn = answer.catch(() => {});
  return answer;
}

async function handleNow(
  context: Context,
  held: Held,
  request: Request,
  options: HandleOptions,
): Promise<Answer | null> {
  for (;;) {
    const row = await loadHeld(context, held);
    if (!row) return null;
    const definition = machineOf(context, row);
    if (!definition) return null;
    const outcome = await decideOn(context, definition, row, request, options);
    if (outcome.kind === 'wait') return null;
    if (outcome.kind === 'again') {
      held.cached = null;
      continue;
    }
    if (await context.registry.commit(row, outcome.change)) {
      held.cached = afterCommit(row, outcome.change);
      carryOver(row, held.cached, outcome.change);
      if (outcome.answer.verdict === 'take' || outcome.answer.verdict === 'begin') held.poke.poke();
      return outcome.answer;
    }
    held.cached = null;
    // The step was marked by somebody else: nothing is decided, and nobody may act on it.
    if (options.step && (await context.registry.step(row.id, row.attempt, options.step.step))) return null;
  }
}

/** The row, if this driver's epoch is still the row's. */
export async function loadHeld(context: Context, held: Held): Promise<Row | null> {
  const row = held.cached ?? (await context.registry.load(held.job));
  if (!row || row.epoch !== held.epoch) return null;
  held.cached = row;
  return row;
}

type Ruling = { kind: 'wait' } | { kind: 'again' } | { kind: 'commit'; change: Change; answer: Answer };

async function decideOn(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  request: Request,
  options: HandleOptions,
): Promise<Ruling> {
  try {
    const parsed = eventOf(definition, request);
    const facts = await factsAbout(context, definition, row, request, parsed);
    const admission = admit(definition, row, request, facts);
    if (admission.kind === 'refused' && admission.reason === 'faulted') {
      if (request.from === 'person' && isForPerson(request)) return commitForcedEnd(context, definition, row, request);
      // Everything else waits, undecided, for a build that can continue the row.
      return { kind: 'wait' };
    }
    if (admission.kind === 'begin') return beginAttempt(context, definition, row, request, admission.attempt);
    if (admission.kind !== 'take') {
      const reason = admission.kind === 'refused' ? admission.reason : null;
      return refusal(context, row, request, admission.kind, reason);
    }
    const decision = decide(definition, row.snapshot, parsed ?? { type: '' });
    if (!decision.taken && !options.step) return refusal(context, row, request, 'refused', 'not_now');
    return taken(context, row, request, decision, options);
  } catch (error) {
    if (isRegistryTrouble(error)) throw error;
    await noteFault(context, definition, row, describe(request), error);
    return { kind: 'again' };
  }
}

async function factsAbout(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  request: Request,
  parsed: { type: string } | null,
): Promise<Facts> {
  const signed = request.from === 'agent' && row.key !== null && context.verify(request.envelope, row.key);
  return {
    signed,
    wellFormed: parsed !== null,
    causeIsCurrent: await isCurrent(context, row, request),
    // Only asked where the table needs it: a forged envelope must not reach the machine at all.
    machineTakes:
      signed && parsed !== null && row.phase === 'finalizing' && wouldTake(definition, row.snapshot, parsed),
  };
}

async function isCurrent(context: Context, row: Row, request: Request): Promise<boolean> {
  if (request.from === 'effect') {
    return (await openWorkOf(context.registry, row)).some((work) => work.id === request.outboxId);
  }
  if (request.from === 'clock') {
    // The time belongs to it: a renewal may have shifted a silence timer since this one was read.
    const { id, armedVersion, fireAt } = request.timer;
    return (await context.registry.timers(row.id)).some(
      (timer) => timer.id === id && timer.armedVersion === armedVersion && timer.fireAt === fireAt,
    );
  }
  return true;
}

function eventOf(definition: MachineDefinition, request: Request): { type: string } | null {
  if (request.from === 'clock') return request.timer.event;
  return request.from === 'effect' ? request.event : definition.parse(request);
}

function taken(context: Context, row: Row, request: Request, decision: Decision, options: HandleOptions): Ruling {
  const answer: Answer = { verdict: 'take', version: row.version + 1, reason: null, phase: decision.next.phase };
  const change: Change = {
    ...(decision.taken && { next: decision.next, effects: decision.effects }),
    cause: causeOf(request, answer),
    ...(row.faults > 0 && { faults: { count: 0, reason: null } }),
    log: entry(context, request, 'take', null),
    durable: options.step !== undefined || isEnd(decision.next.phase),
  };
  if (options.step) change.step = { ...options.step, driver: JSON.stringify(context.record) };
  return { kind: 'commit', change, answer };
}

function refusal(
  context: Context,
  row: Row,
  request: Request,
  verdict: VerdictKind,
  reason: RefusalReason | null,
): Ruling {
  const answer: Answer = { verdict, version: row.version, reason, phase: row.phase };
  const change = { cause: causeOf(request, answer), log: entry(context, request, verdict, reason) };
  return { kind: 'commit', change, answer };
}

function beginAttempt(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  request: Request,
  attempt: number,
): Ruling {
  const first = begin(definition, definition.inputOf(row.spec));
  const answer: Answer = { verdict: 'begin', version: row.version + 1, reason: null, phase: first.next.phase };
  const change: Change = {
    beginAttempt: attempt,
    next: first.next,
    effects: first.effects,
    cause: causeOf(request, answer),
    ...(row.faults > 0 && { faults: { count: 0, reason: null } }),
    log: { ...entry(context, request, 'begin', null), data: { attempt } },
    durable: true,
  };
  return { kind: 'commit', change, answer };
}

async function commitForcedEnd(
  context: Context,
  definition: MachineDefinition,
  row: Row,
  request: Request,
): Promise<Ruling> {
  const answer: Answer = { verdict: 'take', version: row.version + 1, reason: null, phase: 'failed' };
  const change = await forceEnd(context, definition, row, entry(context, request, 'take', null));
  return { kind: 'commit', change: { ...change, cause: causeOf(request, answer) }, answer };
}

function causeOf(request: Request, answer: Answer): Cause {
  switch (request.from) {
    case 'clock':
      return { timer: { id: request.timer.id, armedVersion: request.timer.armedVersion } };
    case 'effect':
      // News leave their effect running; only its result closes the outbox row.
      return request.event.type.startsWith('xstate.') ? { outboxId: request.outboxId } : {};
    default:
      return { inbox: { id: request.id, answer } };
  }
}

export function describe(request: Request): string {
  switch (request.from) {
    case 'clock':
      return request.timer.delay;
    case 'effect':
      return request.event.type.replace('xstate.done.actor.', 'done ').replace('xstate.error.actor.', 'error ');
    case 'agent':
      return request.envelope.event.type;
    case 'person':
      return request.event.type;
  }
}

function entry(context: Context, request: Request, verdict: VerdictKind, reason: string | null): LogEntry {
  return {
    from: request.from,
    what: describe(request),
    verdict,
    reason,
    data: dataOf(request),
    driver: context.record.id,
  };
}

/** What a reader of the log needs beside the words. Never a key, never a signature. */
function dataOf(request: Request): Json {
  switch (request.from) {
    case 'clock':
      return { timer: request.timer.id, fireAt: request.timer.fireAt };
    case 'agent': {
      const { id, attempt, seq, at, event } = request.envelope;
      return { id, attempt, seq, at, ...event };
    }
    case 'person':
      return { id: request.id, by: request.by, ...request.event };
    case 'effect': {
      const { type: _type, ...rest } = request.event;
      return JSON.parse(JSON.stringify(rest)) as Json;
    }
  }
}

/** The row as the registry now has it, so that the next decision need not read it again. */
function afterCommit(row: Row, change: Change): Row | null {
  if (change.beginAttempt !== undefined || change.migrateTo !== undefined) return null;
  const moves = change.next || change.step || change.cleanupDone || change.faults;
  if (!moves) return row;
  const opensCleanup = change.effects?.some((effect) => effect.kind === 'cleanup');
  return {
    ...row,
    ...change.next,
    version: row.version + 1,
    cleanup: change.cleanupDone ? 'done' : opensCleanup ? 'open' : row.cleanup,
    faults: change.faults?.count ?? row.faults,
    faultReason: change.faults ? change.faults.reason : row.faultReason,
  };
}

export const isFaulted = (row: Row): boolean => row.faults >= FAULT_LIMIT;
