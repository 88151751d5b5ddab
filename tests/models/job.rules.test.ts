// Level 1, outcomes: the sentences of docs/design.md sections 1 and 5 about how an attempt ends, asked of the whole graph.
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../machines/job/exit.ts';
import { type Outcome, statusOf } from '../../machines/job/vocabulary.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { internal } from './events.ts';
import { type Edge, explore } from './graph.ts';
import { complaints } from './history.ts';
import { AFTER_DELIVERY, EXIT_CODES, PROVISIONAL, REPORTS, RESCHEDULABLE } from './page.ts';
import { viewOf } from './view.ts';

const graph = explore();
const taken = graph.edges.filter((edge) => !edge.refused);
const ends = graph.nodes.filter((node) => node.state.status === 'done');
const names = (edges: Edge[]) => edges.map((edge) => edge.name);
const reasonOf = ({ to }: Edge) => to.context.outcome?.reason ?? '';
const endingEdges = taken.filter((edge) => edge.to.status === 'done');
const finalizingEdges = graph.edges.filter((edge) => viewOf(edge.from.state).place === 'finalizing');
/** The edge on which an outcome was set for the first time, or anew. */
const decidesOutcome = (edge: Edge) =>
  JSON.stringify(edge.to.context.outcome) !== JSON.stringify(edge.from.state.context.outcome);

describe('the graph', () => {
  it('is neither degenerate nor exploding', () => {
    expect(graph.nodes.length).toBeGreaterThan(800);
    expect(graph.nodes.length).toBeLessThan(3_000);
    expect(taken.length).toBeGreaterThan(10_000);
    expect(graph.edges.length - taken.length).toBeGreaterThan(5_000);
  });

  it('has every place, every region’s every state, every end and every reason the page names', () => {
    const views = graph.nodes.map(({ state }) => viewOf(state));
    const all = (word: keyof (typeof views)[number]) =>
      [...new Set(views.map((view) => view[word]))].filter(Boolean).sort();
    expect(all('place')).toEqual(['ended', 'finalizing', 'idle-wait', 'injected', 'preflight', 'queued', 'subscribed']);
    expect(all('delivery')).toEqual(['accepted', 'holding', 'typing', 'unknown']);
    expect(all('turn')).toEqual(['blocked', 'hidden', 'notBegun', 'quiet', 'reminding', 'waiting', 'working']);
    expect(all('channel')).toEqual(['open', 'reading', 'resting']);
    const outcomes = new Set(
      ends.map(({ state }) => `${state.context.outcome?.status} ${state.context.outcome?.reason}`),
    );
    // internal_error is the kernel's: a faulted row is closed without the machine.
    expect([...outcomes, 'failed internal_error'].sort()).toEqual(Object.keys(EXIT_CODES).sort());
  });

  it('tells states apart by everything that decides: what the key leaves out changes no answer', () => {
    // Another way into the same node may carry another context. Each such twin must answer every event like the node.
    const twins = taken.filter((edge) => JSON.stringify(edge.to.context) !== JSON.stringify(edge.target.state.context));
    const chosen = twins.filter((_, i) => i % 23 === 0);
    expect(chosen.length).toBeGreaterThan(100);
    for (const { to, target } of chosen) {
      const answers = (state: typeof to) =>
        target.edges
          .filter(({ event }) => !('seq' in event) || to.context.lastPermission === target.state.context.lastPermission)
          .map(({ event }) => (state.status === 'active' ? state.machine.getTransitionData(state, event).length : 0));
      expect(answers(to)).toEqual(answers(target.state));
    }
  });
});

describe('nothing sent is never a timeout', () => {
  it('a timeout, an unknown delivery or an exit of the agent is said only after the delivery step', () => {
    const wrong = taken.filter((edge) => AFTER_DELIVERY.includes(reasonOf(edge)) && !edge.to.context.deliveryStarted);
    expect(names(wrong)).toEqual([]);
  });

  it('every one of them occurs, and only on the way the page gives it', () => {
    const causes = (reason: string) => {
      const edges = taken.filter((edge) => decidesOutcome(edge) && reasonOf(edge) === reason);
      return [...new Set(edges.map(({ event }) => internal(event.type).name))].sort();
    };
    expect(causes('deadline_timeout')).toEqual(['deadline', 'deadline_timeout']);
    expect(causes('idle_timeout')).toEqual(['idleTimeout']);
    expect(causes('delivery_unknown')).toEqual(['idleTimeout']);
    expect(causes('permission_timeout')).toEqual(['permissionTimeout']);
    expect(causes('agent_exited')).toEqual(['agent.exited']);
    expect(causes('reported')).toEqual(['completed']);
    expect(causes('agent_failed')).toEqual(['failed']);
    expect(causes('cancelled')).toEqual(['cancelled']);
  });

  it('“sent” begins with the delivery step or with evidence of arrival, and never ends', () => {
    for (const edge of taken) {
      const before = edge.from.state.context.deliveryStarted;
      const now = edge.to.context.deliveryStarted;
      const { event } = edge;
      const step =
        event.type === 'step.started' && event.step === 'paste' && viewOf(edge.from.state).delivery === 'holding';
      const output = event.output as { delivery?: string } | undefined;
      const delivering =
        viewOf(edge.from.state).delivery === 'holding' || viewOf(edge.from.state).delivery === 'typing';
      const evidence = delivering && (event.type === 'nonce.seen' || output?.delivery === 'accepted');
      expect(now, edge.name).toBe(before || step || evidence);
    }
  });

  it('exit 5 at an end means: the delivery step was never started, or it was rejected with proof', () => {
    const wrong = complaints<'unsent' | 'sent' | 'rejected'>(
      graph,
      'unsent',
      (memory, { event }) => {
        const output = event.output as { delivery?: string } | undefined;
        if (output?.delivery === 'rejected') return 'rejected';
        const arrived = event.type === 'nonce.seen' || output?.delivery === 'accepted';
        return arrived || (event.type === 'step.started' && event.step === 'paste') ? 'sent' : memory;
      },
      (memory, { to }) => {
        if (to.status !== 'done') return null;
        const exit = exitCodeOf(to.context.outcome as Outcome);
        if (exit === 5 && memory === 'sent') return 'exit 5 after a delivery';
        if (exit === 2 && memory !== 'sent') return 'a timeout without a delivery';
        const ours =
          REPORTS.includes(to.context.outcome?.reason ?? '') || to.context.outcome?.reason === 'report_invalid';
        // bus_away says both: job.bus.test.ts.
        const asked = ours || ['cancelled', 'bus_away'].includes(to.context.outcome?.reason ?? '');
        return memory !== 'sent' && !asked && exit !== 5 ? `exit ${exit} although nothing was sent` : null;
      },
    );
    expect(wrong).toEqual([]);
  });

  it('preflight_failed and no_channel belong to the places before injected', () => {
    for (const edge of taken.filter(decidesOutcome)) {
      const { place } = viewOf(edge.from.state);
      if (reasonOf(edge) === 'no_channel') expect(place, edge.name).toBe('subscribed');
      if (reasonOf(edge) === 'preflight_failed') expect(['preflight', 'idle-wait'], edge.name).toContain(place);
      if (reasonOf(edge) === 'not_delivered') expect(place, edge.name).toBe('injected');
    }
  });

  it('session_blocked is said iff a dialog was what kept us from typing', () => {
    const busyOrBlocked = taken.filter((edge) => decidesOutcome(edge) && /^session_/.test(reasonOf(edge)));
    expect(busyOrBlocked.length).toBeGreaterThan(100);
    for (const edge of busyOrBlocked) {
      const dialog = edge.from.state.context.hold === 'dialog';
      const blocked = internal(edge.event.type).name === 'permissionTimeout';
      const queued = viewOf(edge.from.state).place === 'queued' && edge.event.type.startsWith('xstate.');
      expect(reasonOf(edge), edge.name).toBe((dialog || blocked) && !queued ? 'session_blocked' : 'session_busy');
    }
  });
});

describe('every end after subscribed passes finalizing', () => {
  it('no edge leads from injected to an end', () => {
    const wrong = endingEdges.filter(
      (edge) =>
        !['queued', 'preflight', 'idle-wait', 'subscribed', 'finalizing'].includes(viewOf(edge.from.state).place),
    );
    expect(names(wrong)).toEqual([]);
    expect(endingEdges.length).toBeGreaterThan(100);
  });

  it('an end before it is always cancelled: an agent’s report is never taken without being verified', () => {
    const early = endingEdges.filter((edge) => viewOf(edge.from.state).place !== 'finalizing');
    expect(new Set(early.map((edge) => edge.to.value))).toEqual(new Set(['cancelled']));
  });

  it('finalizing knows its outcome, and the end is the one the outcome names', () => {
    for (const { state, name } of graph.nodes) {
      if (viewOf(state).place === 'finalizing') expect(state.context.outcome, name).not.toBeNull();
      if (state.status === 'done') expect(state.value, name).toBe(state.context.outcome?.status);
      if (state.hasTag('pending') || state.hasTag('injected')) expect(state.context.outcome, name).toBeNull();
    }
  });

  it('an agent’s completed or failed leads from every open state into draining', () => {
    for (const { state, edges, name } of graph.nodes.filter(
      ({ state }) => state.hasTag('pending') || state.hasTag('injected'),
    )) {
      for (const type of ['completed', 'failed'] as const) {
        const edge = edges.find(({ event }) => event.type === type);
        expect(edge && viewOf(edge.to), `${name} ${type}`).toMatchObject({ place: 'finalizing', part: 'draining' });
        expect(edge?.to.context.outcome).toEqual(
          type === 'completed'
            ? { status: 'completed', reason: 'reported' }
            : { status: 'failed', reason: 'agent_failed' },
        );
      }
      expect(state.status).toBe('active');
    }
  });
});

describe('finalizing', () => {
  it('a provisional outcome gives way to a report, and draining starts again', () => {
    const reports = finalizingEdges.filter(
      ({ from, event }) =>
        ['completed', 'failed'].includes(event.type) && PROVISIONAL.includes(from.state.context.outcome?.reason ?? ''),
    );
    expect(reports.length).toBeGreaterThan(20);
    for (const edge of reports) {
      expect(REPORTS, edge.name).toContain(reasonOf(edge));
      expect(viewOf(edge.to).part, edge.name).toBe('draining');
      const drains = edge.actions.filter(
        ({ type, params }) => type === 'xstate.spawnChild' && (params as { id: string }).id === 'drainWays',
      );
      expect(drains, edge.name).toHaveLength(1);
    }
  });

  it('a cancel gives way to nothing, nor does one report to another', () => {
    const firm = finalizingEdges.filter(({ from }) => !PROVISIONAL.includes(from.state.context.outcome?.reason ?? ''));
    expect(new Set(firm.map(({ from }) => from.state.context.outcome?.reason))).toEqual(
      new Set(['reported', 'agent_failed', 'cancelled']),
    );
    const changed = firm.filter((edge) => decidesOutcome(edge) && reasonOf(edge) !== 'report_invalid');
    expect(names(changed)).toEqual([]);
  });

  it('waits for the turn only after an agent’s own report, and verifies only a completed', () => {
    for (const { state, name } of graph.nodes) {
      const { part } = viewOf(state);
      if (part === 'settling') expect(REPORTS, name).toContain(state.context.outcome?.reason);
      if (part === 'verifying') expect(state.context.outcome?.reason, name).toBe('reported');
    }
    for (const edge of taken.filter(
      (edge) => viewOf(edge.from.state).part === 'draining' && edge.event.type.startsWith('xstate.'),
    )) {
      const reported = REPORTS.includes(edge.from.state.context.outcome?.reason ?? '');
      expect(viewOf(edge.to), edge.name).toMatchObject(reported ? { part: 'settling' } : { place: 'ended' });
    }
  });

  it('says settled: true only where the turn was seen to end, false after the limit or a failed look', () => {
    for (const edge of taken.filter((edge) => viewOf(edge.from.state).part === 'settling')) {
      expect(edge.to.context.settled, edge.name).toBe(edge.event.type === 'xstate.done.actor.awaitTurn');
    }
  });

  it('completed is reached only through a report that verifies', () => {
    const success = endingEdges.filter(({ to }) => to.value === 'completed');
    expect(success.length).toBeGreaterThan(10);
    for (const { event, from, name } of success) {
      expect(viewOf(from.state).part, name).toBe('verifying');
      expect(event, name).toMatchObject({ type: 'xstate.done.actor.verifyReport', output: { valid: true } });
    }
    const invalid = taken.filter(
      ({ from, event }) =>
        viewOf(from.state).part === 'verifying' && (event.output as { valid?: boolean } | undefined)?.valid !== true,
    );
    expect(new Set(invalid.map(reasonOf))).toEqual(new Set(['report_invalid']));
    expect(new Set(invalid.map(({ to }) => to.value))).toEqual(new Set(['failed']));
  });

  it('the manifest that is verified is the one the accepted completed named', () => {
    for (const { state, name } of graph.nodes.filter(({ state }) => viewOf(state).part === 'verifying')) {
      expect(state.context.manifest, name).toMatch(/^a{64}$/);
    }
  });
});

describe('what is told', () => {
  it('every outcome has the exit code of the page', () => {
    for (const [words, code] of Object.entries(EXIT_CODES)) {
      const [status, reason] = words.split(' ');
      expect(exitCodeOf({ status, reason } as Outcome), words).toBe(code);
    }
    for (const { state, name } of ends) {
      const { outcome } = state.context;
      expect(exitCodeOf(outcome as Outcome), name).toBe(EXIT_CODES[`${outcome?.status} ${outcome?.reason}`]);
      expect(exitCodeOf(outcome as Outcome) === 5, name).toBe(RESCHEDULABLE.includes(outcome?.reason ?? ''));
    }
  });

  it('every state has the phase and the status of the page', () => {
    const status = { completed: 'completed', failed: 'error', cancelled: 'cancelled' };
    for (const { state, name } of graph.nodes) {
      const { place, part } = viewOf(state);
      const phase = jobDefinition.phaseOf(state);
      if (place === 'ended')
        expect([phase, statusOf(phase)], name).toEqual([part, status[part as keyof typeof status]]);
      else if (place === 'injected' || place === 'finalizing')
        expect([phase, statusOf(phase)], name).toEqual([place, 'running']);
      else expect([phase, statusOf(phase)], name).toEqual(['pending', 'pending']);
      expect(jobDefinition.outcomeOf(state), name).toEqual(state.context.outcome);
    }
  });

  it('shows the delivery until it is over, then the turn', () => {
    for (const { state, name } of graph.nodes) {
      const { place, delivery, turn } = viewOf(state);
      const shown = jobDefinition.stateOf(state);
      if (place !== 'injected') continue;
      if (delivery === 'accepted') expect(shown, name).toMatch(new RegExp(`^injected\\.(settled\\.)?${turn}$`));
      else expect(shown, name).toBe(delivery === 'unknown' ? 'injected.unknown' : `injected.submitting.${delivery}`);
    }
  });
});
