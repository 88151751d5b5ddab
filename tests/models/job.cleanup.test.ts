// Level 1, cleanup: what every terminal commit writes down to be undone (docs/design.md section 5, "Cleanup").
import { describe, expect, it } from 'vitest';
import type { CleanupStep } from '../../machines/job/cleanup.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { PersistedSnapshot } from '../../src/kernel/ports.ts';
import { type Edge, explore } from './graph.ts';
import { complaints } from './history.ts';
import { mayInterrupt } from './page.ts';
import { viewOf } from './view.ts';

const graph = explore();
const ending = graph.edges.filter(({ refused, to }) => !refused && to.status === 'done');
const plansOf = (edge: Edge) =>
  edge.actions.filter(({ type }) => type === 'cleanup').map(({ params }) => params as CleanupStep[]);
const steps = (edge: Edge) =>
  plansOf(edge)
    .flat()
    .map((step) => step.do);

describe('every terminal commit', () => {
  it('carries exactly one plan, and nothing else does', () => {
    for (const edge of graph.edges) expect(plansOf(edge).length, edge.name).toBe(ending.includes(edge) ? 1 : 0);
    expect(ending.length).toBeGreaterThan(200);
  });

  it('ends what was started, then frees the session, then removes the key', () => {
    for (const edge of ending)
      expect(steps(edge).slice(-3), edge.name).toEqual(['reap', 'release-or-quarantine', 'remove-key']);
  });

  it('touches the agent only if something was sent, and waits for it before the composer is looked at', () => {
    for (const edge of ending) {
      const before = steps(edge)
        .slice(0, -3)
        .filter((step) => step !== 'interrupt');
      expect(before, edge.name).toEqual(edge.to.context.deliveryStarted ? ['await-settled', 'clear-own-text'] : []);
    }
  });

  it('waits 60 s for the turn, then the session is quarantined', () => {
    const limits = new Set(
      ending.flatMap((edge) => plansOf(edge).flat()).flatMap((step) => ('limitMs' in step ? [step.limitMs] : [])),
    );
    expect(limits).toEqual(new Set([60_000]));
  });
});

describe('interrupting', () => {
  it('is first, and happens at most once', () => {
    for (const edge of ending) {
      const at = steps(edge).flatMap((step, i) => (step === 'interrupt' ? [i] : []));
      expect(at.length === 0 || (at.length === 1 && at[0] === 0), edge.name).toBe(true);
    }
  });

  it('only a turn of ours that was working when last seen, by the history of looks', () => {
    // Kept by the test: what the watcher, the agent and the wait for the turn have told.
    const wrong = complaints<boolean>(
      graph,
      false,
      (working, { event, from, to }) => {
        const { place, turn } = viewOf(to);
        if (event.type === 'xstate.done.actor.awaitTurn') return false;
        return place === 'injected' ? turn === 'working' || (working && turn === viewOf(from.state).turn) : working;
      },
      (_, edge, working) => {
        if (edge.to.status !== 'done') return null;
        const last = { outcome: edge.to.context.outcome, sent: edge.to.context.deliveryStarted, working };
        const does = steps(edge).includes('interrupt');
        if (does === mayInterrupt(last)) return null;
        return does ? 'interrupts' : 'does not interrupt';
      },
    );
    expect(wrong).toEqual([]);
    expect(ending.filter((edge) => steps(edge).includes('interrupt')).length).toBeGreaterThan(5);
  });

  it('never with a dialog open: blocked was never left', () => {
    const wrong = complaints<boolean>(
      graph,
      false,
      (open, { to }) => (viewOf(to).place === 'injected' ? viewOf(to).turn === 'blocked' : open),
      (open, edge) =>
        open && edge.to.status === 'done' && steps(edge).includes('interrupt') ? 'answers a dialog' : null,
    );
    expect(wrong).toEqual([]);
  });

  it('never for a completed job and never for permission_timeout', () => {
    for (const edge of ending) {
      const { status, reason } = edge.to.context.outcome ?? {};
      if (status === 'completed' || reason === 'permission_timeout')
        expect(steps(edge), edge.name).not.toContain('interrupt');
    }
  });
});

describe('a faulted row', () => {
  it('ends failed internal_error from every state, with a plan that looks at the session', () => {
    for (const { state, name } of graph.nodes.filter(({ state }) => state.status === 'active')) {
      const snapshot = JSON.parse(JSON.stringify(state.machine.getPersistedSnapshot(state))) as PersistedSnapshot;
      const { next, cleanup } = jobDefinition.forcedEnd(snapshot);
      expect(next, name).toMatchObject({
        phase: 'failed',
        state: 'failed',
        outcome: { status: 'failed', reason: 'internal_error' },
      });
      expect(next.snapshot, name).toMatchObject({ status: 'done', value: 'failed', children: {} });
      expect(
        (cleanup as unknown as CleanupStep[]).map((step) => step.do),
        name,
      ).toEqual(expect.arrayContaining(['await-settled', 'reap', 'release-or-quarantine', 'remove-key']));
    }
  });
});
