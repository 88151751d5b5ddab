// Level 1, what happens while the agent works: delivery, turn, permission, reminder (docs/design.md sections 5 and 7).
import { describe, expect, it } from 'vitest';
import { NEWS } from './events.ts';
import { type Edge, explore } from './graph.ts';
import { complaints } from './history.ts';
import { viewOf } from './view.ts';

const graph = explore();
const taken = graph.edges.filter((edge) => !edge.refused);
const injected = graph.nodes.filter(({ state }) => state.hasTag('injected'));
const pending = graph.nodes.filter(({ state }) => state.hasTag('pending'));
const of = (type: string, nodes = injected) =>
  nodes.flatMap(({ edges }) => edges.filter(({ event }) => event.type === type));
const isNewer = ({ event, from }: Edge) => Number(event.seq) > from.state.context.lastPermission;
const outputOf = ({ event }: Edge) => (event.output as { delivery?: string } | undefined)?.delivery;

describe('before injected', () => {
  it('the agent’s news are taken and change no state, no outcome, no timer, no effect', () => {
    const news = NEWS.flatMap((type) => of(type, pending));
    expect(news.length).toBeGreaterThan(4 * 6);
    for (const { refused, from, to, actions, running, name } of news) {
      expect(refused, name).toBe(false);
      expect(to.value, name).toEqual(from.state.value);
      expect({ ...to.context, heardFromAgent: null }, name).toEqual({ ...from.state.context, heardFromAgent: null });
      expect(actions, name).toEqual([]);
      expect(running, name).toBe(from.running);
    }
  });

  it('a cancel and close deadline_timeout end it at once, cancelled', () => {
    for (const { to, name, event } of [...of('cancelled', pending), ...of('deadline_timeout', pending)]) {
      expect(to.value, name).toBe('cancelled');
      expect(to.context.outcome?.reason === 'cancelled', name).toBe(event.type === 'cancelled');
    }
  });

  it('nothing is typed and no way is left open for a turn', () => {
    for (const { state, name } of pending) {
      expect(state.context, name).toMatchObject({
        deliveryStarted: false,
        turnRuns: false,
        reminded: false,
        outcome: null,
      });
    }
  });
});

describe('delivery', () => {
  it('goes submitting → accepted, rejected, unknown, and never back', () => {
    const allowed = new Map([
      ['holding', ['holding', 'typing', 'accepted']],
      ['typing', ['typing', 'accepted', 'unknown']],
      ['unknown', ['unknown', 'accepted']],
      ['accepted', ['accepted']],
    ]);
    for (const { from, to, name } of taken) {
      const [before, now] = [viewOf(from.state).delivery, viewOf(to).delivery];
      if (before && now) expect(allowed.get(before), name).toContain(now);
    }
  });

  it('unknown needs a started delivery step; without one the job is not_delivered', () => {
    for (const { state, name } of injected) {
      if (viewOf(state).delivery === 'unknown') expect(state.context.deliveryStarted, name).toBe(true);
    }
    const results = taken.filter(({ event }) => /^xstate\.(done|error)\.actor\.inject$/.test(event.type));
    for (const edge of results) {
      const started = edge.from.state.context.deliveryStarted;
      const output = outputOf(edge);
      if (output === 'accepted') expect(viewOf(edge.to).delivery, edge.name).toBe('accepted');
      else if (output !== 'rejected' && started) expect(viewOf(edge.to).delivery, edge.name).toBe('unknown');
      else expect(edge.to.context.outcome, edge.name).toEqual({ status: 'cancelled', reason: 'not_delivered' });
    }
    expect(results.length).toBeGreaterThan(100);
  });

  it('a hook’s nonce and any accepted envelope make unknown accepted', () => {
    const unknown = injected.filter(({ state }) => viewOf(state).delivery === 'unknown');
    expect(unknown.length).toBeGreaterThan(10);
    for (const type of ['nonce.seen', ...NEWS]) {
      for (const { to, name } of of(type, unknown)) expect(viewOf(to).delivery, name).toBe('accepted');
    }
  });

  it('only a delivery step is one: no other step changes what was sent', () => {
    for (const { from, to, event, name } of of('step.started')) {
      if (event.step !== 'paste') expect(to.context.deliveryStarted, name).toBe(from.state.context.deliveryStarted);
      if (event.step === 'enter') expect(to.value, name).toEqual(from.state.value);
    }
  });

  it('the agent’s exit is failed agent_exited after the delivery, else cancelled not_delivered', () => {
    for (const { from, to, name } of of('agent.exited')) {
      const sent = from.state.context.deliveryStarted;
      expect(to.context.outcome, name).toEqual(
        sent ? { status: 'failed', reason: 'agent_exited' } : { status: 'cancelled', reason: 'not_delivered' },
      );
    }
  });
});

describe('permission', () => {
  it('required and cleared apply only if newer than the last one that applied', () => {
    for (const type of ['permission_required', 'permission_cleared']) {
      const asked = of(type);
      expect(asked.some((edge) => !isNewer(edge))).toBe(true);
      for (const edge of asked) {
        const { from, to, name, event } = edge;
        const turn = type === 'permission_required' ? 'blocked' : 'working';
        expect(viewOf(to).turn, name).toBe(isNewer(edge) ? turn : viewOf(from.state).turn);
        expect(to.context.lastPermission, name).toBe(isNewer(edge) ? event.seq : from.state.context.lastPermission);
      }
    }
  });

  it('blocked ends by any progress newer than the question, and not by an older one', () => {
    const blocked = injected.filter(({ state }) => viewOf(state).turn === 'blocked');
    for (const edge of of('progress', blocked)) {
      expect(viewOf(edge.to).turn, edge.name).toBe(isNewer(edge) ? 'working' : 'blocked');
    }
    expect(of('progress', blocked).some((edge) => !isNewer(edge))).toBe(true);
  });

  it('a dialog that the watcher sees is blocked, wherever the turn is', () => {
    for (const { to, name, refused, from } of of('turn.blocked')) {
      expect(viewOf(to).turn, name).toBe('blocked');
      expect(refused, name).toBe(viewOf(from.state).turn === 'blocked');
    }
  });
});

describe('the turn', () => {
  it('before it began, settled means nothing', () => {
    // Begun is: seen working, the agent spoke, or our prompt is in its record.
    const begins = ({ event, to }: Edge) =>
      event.type === 'turn.working' ||
      event.type === 'nonce.seen' ||
      NEWS.includes(event.type) ||
      viewOf(to).delivery === 'accepted';
    const wrong = complaints<boolean>(
      graph,
      false,
      (begun, edge) => begun || begins(edge),
      (begun, edge) => {
        const { turn } = viewOf(edge.to);
        const settles =
          edge.event.type === 'turn.settled' && (turn === 'quiet' || turn === 'reminding' || turn === 'waiting');
        return settles && !begun ? 'settled before it began' : null;
      },
    );
    expect(wrong).toEqual([]);
    for (const { from, refused, name } of of('turn.settled')) {
      if (viewOf(from.state).turn === 'notBegun') expect(refused, name).toBe(true);
    }
  });

  it('a turn of ours that is seen working can be seen settled', () => {
    const working = injected.filter(({ state }) => viewOf(state).turn === 'working');
    for (const { to, name } of of('turn.settled', working)) expect(viewOf(to).turn, name).toBe('quiet');
  });

  it('what the watcher sees, the row says: working and hidden are believed everywhere', () => {
    for (const { to, name } of of('turn.working')) expect(viewOf(to).turn, name).toBe('working');
    for (const { to, name } of of('turn.hidden')) expect(viewOf(to).turn, name).toBe('hidden');
  });

  it('a watcher that ends or breaks makes the turn unobservable and touches nothing else', () => {
    const broken = taken.filter(({ event }) => /^xstate\.(done|error)\.actor\.watch$/.test(event.type));
    expect(broken.length).toBe(2 * injected.length);
    for (const { from, to, name } of broken) {
      const [before, now] = [viewOf(from.state), viewOf(to)];
      expect(now.turn, name).toBe('hidden');
      expect([now.delivery, now.channel], name).toEqual([before.delivery, before.channel]);
    }
  });
});

describe('the reminder', () => {
  const reminding = (edge: Edge) =>
    viewOf(edge.to).turn === 'reminding' && viewOf(edge.from.state).turn !== 'reminding';

  it('comes after a settled turn was quiet, and at most once', () => {
    const entries = taken.filter(reminding);
    expect(entries.length).toBeGreaterThan(8);
    for (const { from, event, name } of entries) {
      expect(viewOf(from.state).turn, name).toBe('quiet');
      expect(event.type, name).toMatch(/^xstate\.after\.quiet\./);
    }
    const wrong = complaints<boolean>(
      graph,
      false,
      (marked, { event, from }) =>
        marked ||
        (viewOf(from.state).turn === 'reminding' && event.type === 'step.started' && event.step === 'remind-paste'),
      (marked, edge) => (marked && reminding(edge) ? 'reminded again' : null),
    );
    expect(wrong).toEqual([]);
  });

  it('is never typed while the prompt’s own effect still runs', () => {
    for (const { state, running, name } of injected) {
      if (viewOf(state).turn === 'reminding') expect(running.effects.has('inject'), name).toBe(false);
    }
  });

  it('done or broken, the idle clock decides', () => {
    const over = taken.filter(({ event }) => /^xstate\.(done|error)\.actor\.remind$/.test(event.type));
    for (const { to, running, name } of over) {
      expect(viewOf(to).turn, name).toBe('waiting');
      expect(running.timers.has('idleTimeout'), name).toBe(!viewOf(to).unheard);
    }
    expect(over.length).toBeGreaterThan(10);
  });
});
