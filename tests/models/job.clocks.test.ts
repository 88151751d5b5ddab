// Level 1, time: which timers and effects exist in which state (docs/design.md section 5), and that waiting always ends.
import { describe, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { EFFECT_LIMITS } from '../../machines/job/table.ts';
import { internal } from './events.ts';
import { explore, INPUT, LIMITS, type Node } from './graph.ts';
import { effectsOf, idleClockShouldRun, LENGTHS, timersOf } from './page.ts';
import { viewOf } from './view.ts';

const graph = explore();
const taken = graph.edges.filter((edge) => !edge.refused);
const active = graph.nodes.filter((node) => node.state.status === 'active');
const fires = (delay: string) =>
  taken.filter(({ event }) => event.type.startsWith('xstate.after.') && internal(event.type).name === delay);

describe('timers', () => {
  it('exactly those of the page are armed, after every edge of the graph', () => {
    for (const { to, running, name } of taken) {
      expect([...running.timers.keys()].sort(), name).toEqual(to.status === 'done' ? [] : timersOf(viewOf(to)));
    }
  });

  it('each runs as long as the limit of its name says', () => {
    for (const { running, name } of taken) {
      for (const [delay, { ms }] of running.timers) {
        expect(ms, `${delay} ${name}`).toBe(LIMITS[LENGTHS[delay as keyof typeof LENGTHS]]);
      }
    }
    expect(new Set(taken.flatMap(({ running }) => [...running.timers.keys()]))).toEqual(new Set(Object.keys(LENGTHS)));
  });

  it('has the page’s limits by default', () => {
    expect(Limits.parse({})).toEqual({
      queue: 3_600_000,
      preflight: 30_000,
      idleProbe: 120_000,
      idleBackoff: 10_000,
      openWays: 30_000,
      deadline: 3_600_000,
      typing: expect.any(Number),
      idle: 600_000,
      permission: 1_800_000,
      quiet: 5_000,
      diskPoll: 3_000,
      drain: 5_000,
      verify: 30_000,
      settle: 60_000,
    });
  });

  it('those that limit an effect of ours run only in states that run an effect, and by the limit of their name', () => {
    for (const [delay, limit] of Object.entries(EFFECT_LIMITS))
      expect(limit).toBe(LENGTHS[delay as keyof typeof LENGTHS]);
    for (const { running, name } of active) {
      const limits = [...running.timers.keys()].filter((delay) => delay in EFFECT_LIMITS);
      if (limits.length > 0) expect(running.effects.size, name).toBeGreaterThan(0);
    }
    const others = Object.keys(LENGTHS)
      .filter((delay) => !(delay in EFFECT_LIMITS))
      .sort();
    expect(others).toEqual(['deadline', 'diskPoll', 'idleBackoff', 'idleTimeout', 'permissionTimeout', 'quiet']);
  });

  it('the deadline counts from entry into dispatched and is never armed anew', () => {
    for (const { from, to, running, name } of taken) {
      const before = from.running.timers.get('deadline');
      if (!before || !running.timers.has('deadline')) continue;
      expect(running.timers.get('deadline'), name).toEqual(before);
      expect(['subscribed', 'injected'], name).toContain(viewOf(to).place);
    }
  });

  it('the idle clock runs iff the page says so, and the region says the same', () => {
    for (const { state, name } of active.filter(({ state }) => state.hasTag('injected'))) {
      expect(viewOf(state).activity, name).toBe(idleClockShouldRun(viewOf(state)) ? 'counting' : 'held');
    }
  });

  it('news of the agent start the idle clock anew; nothing else that leaves it running does', () => {
    const both = taken.filter(
      ({ from, running }) => from.running.timers.has('idleTimeout') && running.timers.has('idleTimeout'),
    );
    const anew = both.filter(
      ({ from, running }) => running.timers.get('idleTimeout')?.since !== from.running.timers.get('idleTimeout')?.since,
    );
    expect(new Set(anew.map(({ event }) => event.type))).toEqual(new Set(['started', 'progress']));
    const kept = both.filter((edge) => !anew.includes(edge));
    expect(kept.filter(({ event }) => event.type === 'started' || event.type === 'progress')).toEqual([]);
  });

  it('the permission clock is not started anew by another look at the same dialog', () => {
    const looks = taken.filter(
      ({ from, event }) => viewOf(from.state).turn === 'blocked' && event.type === 'turn.blocked',
    );
    expect(looks).toEqual([]);
  });
});

describe('effects', () => {
  it('exactly those of the page run, after every edge; only the watcher and the follower may have ended before', () => {
    for (const { to, running, name, event } of taken) {
      const page = to.status === 'done' ? [] : effectsOf(viewOf(to));
      const { kind, name: about } = internal(event.type);
      const over = kind !== 'timer' && ['watch', 'followBus'].includes(about) ? about : null;
      expect([...running.effects].sort(), name).toEqual(page.filter((id) => id !== over));
    }
  });

  it('the prompt’s effect starts once in an attempt, on the way into injected and nowhere else', () => {
    const starts = taken.filter(({ actions }) =>
      actions.some(({ type, params }) => type === 'xstate.spawnChild' && (params as { id: string }).id === 'inject'),
    );
    expect(starts.length).toBeGreaterThan(0);
    for (const { from, name } of starts) expect(viewOf(from.state).place, name).toBe('subscribed');
  });

  it('every node is reached with its watcher and its follower alive, so that their end is tried everywhere', () => {
    for (const { state, running, name } of active.filter(({ state }) => state.hasTag('injected'))) {
      for (const effect of ['watch', 'followBus']) {
        expect(running.effects.has(effect), name).toBe(true);
        expect(state.machine.getTransitionData(state, { type: `xstate.error.actor.${effect}` }), name).toHaveLength(1);
      }
    }
  });

  it('the broker’s absence is bridged by the disk, over and over until it is back', () => {
    for (const edge of taken.filter(({ event }) => ['readDisk'].includes(internal(event.type).name))) {
      expect(viewOf(edge.to).channel, edge.name).toBe('resting');
    }
    for (const edge of fires('diskPoll')) expect(viewOf(edge.to).channel, edge.name).toBe('reading');
    expect(LIMITS.diskPoll).toBe(111);
    expect(Limits.parse({}).diskPoll).toBeLessThanOrEqual(3_000);
  });
});

describe('waiting ends', () => {
  it('time alone leads from every state to an end', () => {
    const ending = new Set<Node>(graph.nodes.filter(({ state }) => state.status === 'done'));
    const byTime = taken.filter(({ event }) => event.type.startsWith('xstate.after.'));
    for (let size = 0; size !== ending.size; ) {
      size = ending.size;
      for (const { from, target } of byTime) if (ending.has(target)) ending.add(from);
    }
    expect(graph.nodes.filter((node) => !ending.has(node)).map(({ name }) => name)).toEqual([]);
  });

  it('every state that waits has a timer', () => {
    expect(active.filter(({ running }) => running.timers.size === 0).map(({ name }) => name)).toEqual([]);
  });

  it('no timer can fire twice in a row for ever: each loop of timers is bounded by another timer', () => {
    // Once the bounded ones are taken away, what only time moves must have no circle: retries are counted, the deadline is one.
    const bounded = new Set(['diskPoll', 'quiet']);
    for (const { running, name } of active.filter(({ running }) =>
      [...running.timers.keys()].some((delay) => bounded.has(delay)),
    )) {
      expect(running.timers.has('deadline'), name).toBe(true);
    }
    const edges = taken.filter(
      ({ event }) => event.type.startsWith('xstate.after.') && !bounded.has(internal(event.type).name),
    );
    const open = new Map<Node, Node[]>();
    for (const { from, target } of edges) open.set(from, [...(open.get(from) ?? []), target]);
    const done = new Set<Node>();
    const circle = (node: Node, way: Set<Node>): boolean => {
      if (way.has(node)) return true;
      if (done.has(node)) return false;
      const found = (open.get(node) ?? []).some((next) => circle(next, new Set([...way, node])));
      done.add(node);
      return found;
    };
    expect(graph.nodes.filter((node) => circle(node, new Set())).map(({ name }) => name)).toEqual([]);
  });

  it.each([0, 1, 2])('with %i retries the session is probed that often and once more, then given up', (idleRetries) => {
    const { nodes } = explore({ input: { ...INPUT, idleRetries }, within: (state) => state.hasTag('pending') });
    let node = nodes.find(
      ({ state }) => viewOf(state).part === 'probing' && state.context.idleRetries === idleRetries,
    ) as Node;
    let probes = 0;
    while (viewOf(node.state).place === 'idle-wait') {
      if (viewOf(node.state).part === 'probing') probes++;
      const next = node.edges.find(({ event, refused }) => !refused && event.type.startsWith('xstate.after.'));
      expect(next, node.name).toBeDefined();
      node = next?.target as Node;
    }
    expect(probes).toBe(1 + idleRetries);
    expect(node.state.context.outcome).toEqual({ status: 'cancelled', reason: 'session_busy' });
  });
});

describe('what each timer does', () => {
  const outcomes = (delay: string) =>
    [...new Set(fires(delay).map(({ to }) => `${viewOf(to).place} ${to.context.outcome?.reason ?? '-'}`))].sort();

  it.each([
    ['queueTimeout', ['ended session_busy']],
    ['preflightLimit', ['ended preflight_failed']],
    ['idleProbeLimit', ['ended session_blocked', 'ended session_busy', 'idle-wait -']],
    ['idleBackoff', ['idle-wait -']],
    ['openWaysLimit', ['ended no_channel']],
    [
      'deadline',
      ['finalizing bus_away', 'finalizing deadline_timeout', 'finalizing session_blocked', 'finalizing session_busy'],
    ],
    ['typingLimit', ['injected -']],
    ['idleTimeout', ['finalizing delivery_unknown', 'finalizing idle_timeout']],
    ['permissionTimeout', ['finalizing permission_timeout', 'finalizing session_blocked']],
    ['quiet', ['injected -']],
    ['diskPoll', ['injected -']],
    ['verifyLimit', ['ended report_invalid']],
    ['settleGrace', ['ended agent_failed', 'finalizing reported']],
  ])('%s', (delay, expected) => {
    expect(outcomes(delay)).toEqual(expected);
  });

  it('the idle clock says delivery_unknown iff nobody knows whether the prompt arrived', () => {
    for (const { from, to, name } of fires('idleTimeout')) {
      const unknown = viewOf(from.state).delivery === 'unknown';
      expect(to.context.outcome, name).toEqual({
        status: 'failed',
        reason: unknown ? 'delivery_unknown' : 'idle_timeout',
      });
    }
  });

  it('the typing limit leaves the delivery unknown: nobody resends', () => {
    for (const { to, name } of fires('typingLimit')) expect(viewOf(to).delivery, name).toBe('unknown');
  });
});
