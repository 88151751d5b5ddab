// Level 1, the bus: what it means to a job whose agent can speak by nothing else, and that it means nothing to any other
// (docs/design.md sections 5 and 6).
import { describe, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { exitCodeOf } from '../../machines/job/exit.ts';
import type { Outcome } from '../../machines/job/vocabulary.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { Json, Way } from '../../src/kernel/ports.ts';
import { eventName, internal } from './events.ts';
import { ALL_WAYS, type Edge, explore, type JobState, keyOf, type Node } from './graph.ts';
import { viewOf } from './view.ts';

const graph = explore();
const taken = graph.edges.filter((edge) => !edge.refused);
const dispatched = graph.nodes.filter(({ state }) => ['subscribed', 'injected'].includes(viewOf(state).place));
const unheard = dispatched.filter(({ state }) => viewOf(state).unheard);
const isDeadline = ({ event }: Edge) => event.type === 'deadline_timeout' || internal(event.type).name === 'deadline';
const reasonOf = ({ to }: Edge) => to.context.outcome?.reason ?? null;

describe('which job is bus-only', () => {
  it.each<[Way[], boolean]>([
    [['bus'], true],
    [['inbox', 'bus', 'spool'], false],
    [['bus', 'spool'], false],
    [['spool'], false],
  ])('ways %j: %s', (ways, busOnly) => {
    const spec = { idleRetries: 0, limits: Limits.parse({}), ways } as unknown as Json;
    expect(jobDefinition.inputOf(spec)).toMatchObject({ busOnly });
  });
});

describe('a bus that is away', () => {
  it('is known to be away exactly where the channel says so', () => {
    for (const { state, name } of [...graph.nodes, ...explore({ input: ALL_WAYS }).nodes]) {
      const { place, channel } = viewOf(state);
      if (place === 'injected') expect(state.context.busAway !== null, name).toBe(channel !== 'open');
    }
    expect(unheard.length).toBeGreaterThan(300);
  });

  it('is said with its newest reason, and forgotten when it is back or every way is open', () => {
    for (const { event, to, name } of taken) {
      if (event.type === 'bus.lost') expect(to.context.busAway, name).toBe(event.detail);
      if (event.type === 'bus.back' || event.type === 'xstate.done.actor.openWays')
        expect(to.context.busAway, name).toBeNull();
    }
  });

  it('is reported only where somebody follows it', () => {
    for (const { event, refused, from, name } of graph.edges) {
      if (event.type === 'bus.lost') expect(!refused, name).toBe(dispatched.includes(from));
    }
  });

  it('is believed away when the follower breaks; a follower that ends says nothing', () => {
    const ends = taken.filter(({ event }) => internal(event.type).name === 'followBus');
    expect(ends.length).toBeGreaterThan(1_000);
    for (const { event, from, to, name } of ends) {
      if (internal(event.type).kind === 'done') {
        expect([to.value, to.context], name).toEqual([from.state.value, from.state.context]);
      } else {
        expect(viewOf(to).channel, name).toBe('reading');
        expect(to.context.busAway, name).toBe('followBus broke');
      }
    }
  });
});

describe('while a bus-only agent cannot be heard', () => {
  it('its silence counts for nothing: no idle clock, no idle_timeout, no delivery_unknown', () => {
    for (const { running, name } of unheard) expect(running.timers.has('idleTimeout'), name).toBe(false);
    for (const edge of taken.filter((edge) => viewOf(edge.from.state).unheard)) {
      expect(['idle_timeout', 'delivery_unknown'], edge.name).not.toContain(reasonOf(edge));
    }
  });

  it('and the clock begins anew, with its whole length, when the bus is back', () => {
    const back = taken.filter(({ event, running }) => event.type === 'bus.back' && running.timers.has('idleTimeout'));
    expect(back.length).toBeGreaterThan(50);
    for (const { from, running, name } of back) {
      expect(running.timers.get('idleTimeout'), name).toEqual({ ms: 108, since: running.decisions });
      expect(from.running.timers.has('idleTimeout'), name).toBe(false);
    }
  });

  it('it is not reminded; what was quiet is asked again', () => {
    const quiet = taken.filter(
      ({ event, from }) => internal(event.type).name === 'quiet' && viewOf(from.state).unheard,
    );
    const asked = quiet.filter(({ from }) => !from.state.context.reminded);
    expect(asked.length).toBeGreaterThan(5);
    for (const { to, running, name, actions } of asked) {
      expect(viewOf(to).turn, name).toBe('quiet');
      // Not even begun and taken back.
      expect(
        actions.filter(({ type }) => type === 'xstate.spawnChild'),
        name,
      ).toEqual([]);
      expect(running.timers.get('quiet')?.since, name).toBe(running.decisions);
    }
    for (const { to, from, name } of quiet.filter((edge) => !asked.includes(edge))) {
      expect([viewOf(from.state).turn, viewOf(to).turn], name).toEqual(['quiet', 'waiting']);
    }
  });

  it('a reminder that has not been typed waits until it can be answered; one that was typed is not typed again', () => {
    const reminding = unheard.filter(({ state }) => viewOf(state).turn === 'reminding');
    expect(reminding.length).toBeGreaterThan(0);
    for (const { state, name } of reminding) expect(state.context.reminded, name).toBe(true);
    const lost = taken.filter(
      ({ event, from }) =>
        (event.type === 'bus.lost' || event.type === 'xstate.error.actor.followBus') &&
        viewOf(from.state).turn === 'reminding' &&
        !from.state.context.reminded,
    );
    expect(lost.length).toBeGreaterThan(1);
    for (const { to, running, name } of lost) {
      expect(viewOf(to).turn, name).toBe('quiet');
      expect(running.effects.has('remind'), name).toBe(false);
    }
  });

  it('every other clock goes on', () => {
    for (const delay of ['deadline', 'permissionTimeout', 'typingLimit'])
      expect(unheard.some(({ running }) => running.timers.has(delay))).toBe(true);
  });
});

describe('the deadline', () => {
  const deadlines = taken.filter((edge) => isDeadline(edge) && dispatched.includes(edge.from));

  it('is bus_away iff the agent could not be heard: failed if the delivery had started, else cancelled', () => {
    expect(deadlines.filter(({ from }) => viewOf(from.state).unheard).length).toBeGreaterThan(300);
    for (const edge of deadlines) {
      const { from, to, name } = edge;
      const sent = from.state.context.deliveryStarted;
      if (viewOf(from.state).unheard) {
        expect(to.context.outcome, name).toEqual({ status: sent ? 'failed' : 'cancelled', reason: 'bus_away' });
        expect(to.context.detail, name).toBe(from.state.context.busAway);
      } else if (sent) expect(reasonOf(edge), name).toBe('deadline_timeout');
      else expect(reasonOf(edge), name).toMatch(/^session_/);
    }
  });

  it('passes finalizing, but where a person closes what was never injected', () => {
    for (const { from, to, event, name } of deadlines) {
      const early = viewOf(from.state).place === 'subscribed' && event.type === 'deadline_timeout';
      expect(viewOf(to).place, name).toBe(early ? 'ended' : 'finalizing');
    }
  });

  it('is the only way to bus_away, whose exit code is 3', () => {
    for (const edge of taken) {
      const decided = reasonOf(edge) !== (edge.from.state.context.outcome?.reason ?? null);
      if (decided && reasonOf(edge) === 'bus_away') expect(isDeadline(edge), edge.name).toBe(true);
      if (edge.to.status !== 'done') continue;
      const exit = exitCodeOf(edge.to.context.outcome as Outcome);
      expect(exit === 3, edge.name).toBe(reasonOf(edge) === 'bus_away');
    }
  });
});

describe('ways that do not open in time', () => {
  const ends = taken.filter((edge) => reasonOf(edge) === 'no_channel' && edge.to.status === 'done');

  it('end cancelled no_channel, exit 5, with the reason the bus was away', () => {
    const late = ends.filter(({ event }) => internal(event.type).name === 'openWaysLimit');
    expect(new Set(late.map(({ from }) => viewOf(from.state).unheard))).toEqual(new Set([true, false]));
    for (const { from, to, name } of late) {
      expect(to.context.detail, name).toBe(from.state.context.busAway);
      expect(exitCodeOf(to.context.outcome as Outcome), name).toBe(5);
    }
  });

  it('or with the error of what could not open them', () => {
    const broken = ends.filter(({ event }) => event.type === 'xstate.error.actor.openWays');
    expect(broken.length).toBeGreaterThan(1);
    for (const { to, name } of broken) expect(to.context.detail, name).toBe('openWays broke');
  });
});

describe('a job whose agent can speak otherwise, too', () => {
  const other = explore({ input: ALL_WAYS });
  const ABOUT_THE_BUS = /^bus\.|^xstate\.(done|error)\.actor\.(followBus|readDisk)$|^xstate\.after\.diskPoll\./;
  const isAboutTheBus = ({ event }: Edge) => ABOUT_THE_BUS.test(event.type);
  const said = ({ event, from }: Edge) => eventName(event, from.state.context.lastPermission);

  /** All that decides, but for the channel. */
  const apartFromTheBus = (state: JobState): string => {
    const { status, value, context } = state;
    const key = JSON.parse(keyOf({ ...state, status, value, context: { ...context, busOnly: false } } as JobState));
    return JSON.stringify(key).replace(/\\"channel\\":(\\"open\\"|\{\\"away\\":\\"\w+\\"\})/, '');
  };
  const timers = ({ running }: Edge) => [...running.timers.keys()].filter((delay) => delay !== 'diskPoll').sort();

  it('does in every state, wherever the bus is, what a bus-only one does while it is heard', () => {
    // Both graphs at once: `heard` never loses its bus.
    const pairs = new Map<Node, Node>([[other.start, graph.start]]);
    let compared = 0;
    for (const [node, heard] of pairs) {
      expect(viewOf(heard.state).unheard, heard.name).toBe(false);
      const edges = new Map(heard.edges.map((edge) => [said(edge), edge]));
      for (const edge of node.edges) {
        if (isAboutTheBus(edge)) {
          expect(apartFromTheBus(edge.to), edge.name).toBe(apartFromTheBus(node.state));
          if (!pairs.has(edge.target)) pairs.set(edge.target, heard);
          continue;
        }
        const twin = edges.get(said(edge)) as Edge;
        expect(twin, edge.name).toBeDefined();
        expect(edge.refused, edge.name).toBe(twin.refused);
        expect(apartFromTheBus(edge.to), edge.name).toBe(apartFromTheBus(twin.to));
        expect(timers(edge), edge.name).toEqual(timers(twin));
        compared++;
        if (!pairs.has(edge.target)) pairs.set(edge.target, twin.target);
      }
    }
    expect(pairs.size).toBe(other.nodes.length);
    expect(compared).toBeGreaterThan(20_000);
  });

  it('never ends bus_away', () => {
    expect(other.edges.filter((edge) => reasonOf(edge) === 'bus_away')).toEqual([]);
  });
});
