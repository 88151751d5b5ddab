// Level 1, the table of section 5: `admit`, the machine and the page give one answer, in every reachable state.
import { describe, expect, it } from 'vitest';
import type { JobContext } from '../../machines/job/setup.ts';
import { answerAtTheDoor, kindOf } from '../../machines/job/table.ts';
import { AGENT_EVENTS, CLOSE_REQUESTS, ENDS } from '../../machines/job/vocabulary.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { type Admission, admit, FAULT_LIMIT, type Facts } from '../../src/kernel/admit.ts';
import { decide, wouldTake } from '../../src/kernel/decide.ts';
import type { Request, Row } from '../../src/kernel/ports.ts';
import { internal, MANIFEST } from './events.ts';
import { explore, type Node } from './graph.ts';
import { columnOf, reportCell, TABLE_OF_THE_PAGE } from './page.ts';
import { fromAgent, fromClock, fromPerson, rowOf } from './requests.ts';
import { viewOf } from './view.ts';

const graph = explore();
const TRUE: Facts = { causeIsCurrent: true, signed: true, wellFormed: true, machineTakes: true };

/** The facts as the kernel finds them: only the machine knows whether its outcome is provisional. */
const factsFor = (row: Row, event: { type: string } | null): Facts => ({
  ...TRUE,
  wellFormed: event !== null,
  machineTakes: event !== null && row.phase === 'finalizing' && wouldTake(jobDefinition, row.snapshot, event),
});

/** What the page says, in admit's words. */
function pageSays(line: string, node: Node): Admission['kind'] {
  const cell = TABLE_OF_THE_PAGE[line]?.[columnOf(viewOf(node.state))];
  const answer = cell === 'report' ? reportCell(line, node.state.context as JobContext) : cell;
  return answer as Admission['kind'];
}

const requests: [line: string, request: (node: Node) => Request][] = [
  ...AGENT_EVENTS.map((type): [string, (node: Node) => Request] => [
    type,
    ({ state }) => fromAgent(type, { seq: state.context.lastPermission + 1, manifest: MANIFEST }),
  ]),
  ...CLOSE_REQUESTS.map((type): [string, (node: Node) => Request] => [type, () => fromPerson(type)]),
];

describe('a request of the table', () => {
  it.each(requests)('%s: the page, admit and the machine agree in every state', (line, make) => {
    const answers = new Set<string>();
    for (const node of graph.nodes) {
      const row = rowOf(node);
      const request = make(node);
      const event = jobDefinition.parse(request as never);
      expect(event, node.name).not.toBeNull();
      const verdict = admit(jobDefinition, row, request, factsFor(row, event));
      const taken = decide(jobDefinition, row.snapshot, event as { type: string }).taken;
      answers.add(verdict.kind);
      expect(verdict.kind, node.name).toBe(pageSays(line, node));
      if (verdict.kind === 'refused') expect(verdict.reason, node.name).toBe('not_now');
      // Both ways: what admit takes the machine acts on, and what admit turns away the machine would not have touched.
      expect(taken, node.name).toBe(verdict.kind === 'take');
    }
    expect(answers.size).toBeGreaterThan(1);
  });

  it.each(['deadline', 'idleTimeout', 'permissionTimeout'])('%s: a timer that stands is taken by both', (delay) => {
    const armed = graph.nodes.flatMap((node) =>
      node.edges.filter(({ event }) => event.type.startsWith('xstate.after.') && internal(event.type).name === delay),
    );
    expect(armed.length).toBeGreaterThan(50);
    for (const { from, event, name } of armed) {
      const row = rowOf(from);
      expect(admit(jobDefinition, row, fromClock(delay, event.type), factsFor(row, event)), name).toEqual({
        kind: 'take',
      });
      expect(decide(jobDefinition, row.snapshot, event).taken, name).toBe(true);
    }
  });

  it.each([
    ['deadline', 'deadline_timeout'],
    ['idleTimeout', 'idle_timeout'],
    ['permissionTimeout', 'permission_timeout'],
  ])('%s: judged as the page’s %s in every state, the machine never acts on one that is not armed', (delay, line) => {
    const [armed] = graph.edges.filter(
      ({ event }) => event.type.startsWith('xstate.after.') && internal(event.type).name === delay,
    );
    const event = { type: armed?.event.type ?? '' };
    for (const node of graph.nodes) {
      const row = rowOf(node);
      const request = fromClock(delay, event.type);
      expect(admit(jobDefinition, row, request, TRUE).kind, node.name).toBe(pageSays(line, node));
      if (!node.running.timers.has(delay)) {
        expect(decide(jobDefinition, row.snapshot, event).taken, node.name).toBe(false);
        expect(admit(jobDefinition, row, request, { ...TRUE, causeIsCurrent: false })).toEqual({
          kind: 'refused',
          reason: 'stale_timer',
        });
      }
    }
  });

  it('`emit` at the door says of a finished attempt what admit says', () => {
    for (const end of ENDS) {
      for (const type of AGENT_EVENTS)
        expect(answerAtTheDoor(type, end), `${type} ${end}`).toBe(TABLE_OF_THE_PAGE[type]?.[end]);
    }
  });
});

describe('redispatch', () => {
  it('begins iff the attempt has ended, the number is higher and cleanup is done', () => {
    for (const node of graph.nodes) {
      for (const cleanup of ['none', 'open', 'done'] as const) {
        for (const attempt of [1, 2, 3, 4, 9]) {
          const row = { ...rowOf(node), attempt: 3, cleanup };
          const verdict = admit(jobDefinition, row, fromPerson('redispatch', { attempt }), TRUE);
          const ended = pageSays('redispatch', node) === 'begin';
          if (!ended) expect(verdict, node.name).toEqual({ kind: 'refused', reason: 'not_now' });
          else if (attempt <= 3) expect(verdict, node.name).toEqual({ kind: 'refused', reason: 'other_attempt' });
          else if (cleanup === 'open') expect(verdict, node.name).toEqual({ kind: 'refused', reason: 'cleanup_open' });
          else expect(verdict, node.name).toEqual({ kind: 'begin', attempt });
        }
      }
    }
  });

  it('is no event of the machine', () => {
    for (const node of graph.nodes)
      expect(wouldTake(jobDefinition, rowOf(node).snapshot, { type: 'redispatch' }), node.name).toBe(false);
  });
});

describe('before the table', () => {
  const words = [...AGENT_EVENTS];
  const everywhere = (change: (row: Row) => Row, facts: Facts, reason: string, make: (type: string) => Request) => {
    for (const node of graph.nodes) {
      for (const type of words) {
        expect(admit(jobDefinition, change(rowOf(node)), make(type), facts), `${node.name} ${type}`).toEqual({
          kind: 'refused',
          reason,
        });
      }
    }
  };
  const own = (type: string) => fromAgent(type, { seq: 1 });

  it('another job’s envelope', () => everywhere((row) => ({ ...row, id: 'other' }), TRUE, 'unknown_job', own));
  it('an older attempt’s envelope', () => everywhere((row) => ({ ...row, attempt: 2 }), TRUE, 'other_attempt', own));
  it('a later attempt’s envelope', () =>
    everywhere(
      (row) => row,
      TRUE,
      'other_attempt',
      (type) => fromAgent(type, { attempt: 2 }),
    ));
  it('a bad signature', () => everywhere((row) => row, { ...TRUE, signed: false }, 'bad_signature', own));
  it('a malformed event', () => everywhere((row) => row, { ...TRUE, wellFormed: false }, 'malformed', own));
  it('a faulted row', () => everywhere((row) => ({ ...row, faults: FAULT_LIMIT }), TRUE, 'faulted', own));

  it('a forged envelope learns nothing more than that it is forged', () => {
    const row = { ...rowOf(graph.start), faults: FAULT_LIMIT };
    const facts = { ...TRUE, signed: false, wellFormed: false };
    expect(admit(jobDefinition, row, own('completed'), facts)).toEqual({ kind: 'refused', reason: 'bad_signature' });
  });

  it('one fault fewer than the limit is not faulted', () => {
    const row = { ...rowOf(graph.start), faults: FAULT_LIMIT - 1 };
    expect(FAULT_LIMIT).toBe(3);
    expect(admit(jobDefinition, row, own('started'), TRUE)).toEqual({ kind: 'take' });
  });

  it('a person’s malformed request and a faulted row', () => {
    for (const node of graph.nodes) {
      const row = rowOf(node);
      const person = fromPerson('cancelled');
      expect(admit(jobDefinition, row, person, { ...TRUE, wellFormed: false })).toEqual({
        kind: 'refused',
        reason: 'malformed',
      });
      expect(admit(jobDefinition, { ...row, faults: 3 }, person, TRUE)).toEqual({ kind: 'refused', reason: 'faulted' });
    }
  });

  it('a person’s request that was meant for another attempt', () => {
    for (const node of graph.nodes) {
      const row = { ...rowOf(node), attempt: 3 };
      const meant = (expects: number): Request => ({ ...fromPerson('cancelled'), expects });
      for (const expects of [2, 4]) {
        expect(admit(jobDefinition, row, meant(expects), TRUE), node.name).toEqual({
          kind: 'refused',
          reason: 'other_attempt',
        });
      }
      expect(admit(jobDefinition, row, meant(3), TRUE).kind, node.name).toBe(pageSays('cancelled', node));
    }
  });

  it('a result whose outbox row is closed, and a timer that was disarmed or armed anew', () => {
    for (const node of graph.nodes) {
      const row = rowOf(node);
      const late = { ...TRUE, causeIsCurrent: false };
      const result: Request = {
        from: 'effect',
        outboxId: 1,
        event: { type: 'xstate.done.actor.inject', output: { delivery: 'accepted' } },
      };
      expect(admit(jobDefinition, row, result, late)).toEqual({ kind: 'refused', reason: 'stale_result' });
      expect(admit(jobDefinition, row, fromClock('typingLimit', 'x'), late)).toEqual({
        kind: 'refused',
        reason: 'stale_timer',
      });
      expect(admit(jobDefinition, row, result, TRUE), 'the machine alone says what a result means').toEqual({
        kind: 'take',
      });
    }
  });
});

describe('the allow-list', () => {
  it.each([
    'xstate.done.actor.verifyReport',
    'xstate.after.deadline.dispatched',
    'xstate.init',
    'turn.settled',
    'nonce.seen',
    'step.started',
    'cancelled',
    'JOB.ENDED',
    '',
  ])('an agent may not send %s', (type) => {
    expect(jobDefinition.parse(fromAgent(type, { seq: 1 }) as never)).toBeNull();
  });

  it.each(['xstate.done.actor.verifyReport', 'completed', 'idle_timeout', 'permission_timeout', 'turn.settled', ''])(
    'a person may not send %s',
    (type) => {
      expect(jobDefinition.parse(fromPerson(type) as never)).toBeNull();
    },
  );

  it('a completed needs a manifest’s sha256, and every envelope a positive sequence number', () => {
    const parse = (type: string, extra: object) => jobDefinition.parse(fromAgent(type, extra) as never);
    expect(parse('completed', { seq: 1 })).toBeNull();
    expect(parse('completed', { seq: 1, manifest: 'A'.repeat(64) })).toBeNull();
    expect(parse('completed', { seq: 1, manifest: MANIFEST })).toEqual({
      type: 'completed',
      seq: 1,
      manifest: MANIFEST,
    });
    expect(parse('started', { seq: 0 })).toBeNull();
    expect(parse('started', { seq: 1.5 })).toBeNull();
    expect(parse('progress', { seq: 1, detail: 'x'.repeat(4001) })).toBeNull();
    expect(parse('progress', { seq: 7, detail: 'half' })).toEqual({ type: 'progress', seq: 7, detail: 'half' });
  });

  it('a redispatch needs a whole attempt number', () => {
    const parse = (attempt: unknown) => jobDefinition.parse(fromPerson('redispatch', { attempt }) as never);
    expect(parse(2)).not.toBeNull();
    expect(parse(2.5)).toBeNull();
    expect(parse('2')).toBeNull();
  });

  it('four words are news; the others are lines of their own', () => {
    expect(AGENT_EVENTS.filter((type) => kindOf(type) === 'news')).toEqual([
      'started',
      'progress',
      'permission_required',
      'permission_cleared',
    ]);
    expect(jobDefinition.kindOf('turn.settled')).toBeNull();
  });
});
