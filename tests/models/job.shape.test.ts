// Level 1, the machine's own form: every wait has a last branch, every branch can happen, every transition names its rule.
import { describe, expect, it } from 'vitest';
import { getStateNodes } from 'xstate/graph';
import { jobMachine } from '../../machines/job/machine.ts';
import { RULES } from '../../machines/job/rules.ts';
import { internal } from './events.ts';
import { branchesOf, explore } from './graph.ts';
import { LENGTHS } from './page.ts';

const graph = explore();
const nodes = [jobMachine.root, ...getStateNodes(jobMachine)];
const branches = branchesOf(jobMachine);

describe('waiting', () => {
  it('every timer’s last branch is unguarded', () => {
    const timers = nodes.flatMap((node) =>
      [...node.transitions].filter(([event]) => event.startsWith('xstate.after.')),
    );
    for (const [event, list] of timers) expect(list.at(-1)?.guard, event).toBeUndefined();
    // queueTimeout … verifyLimit: each delay is used by one state.
    expect(timers.map(([event]) => internal(event).name).sort()).toEqual(Object.keys(LENGTHS).sort());
  });

  it('every invoke has an onDone and an onError whose last branch is unguarded', () => {
    const invokes = nodes.flatMap((node) => node.invoke.map(({ id }) => ({ node, id })));
    expect(invokes.length).toBe(12);
    for (const { node, id } of invokes) {
      for (const end of ['done', 'error']) {
        const list = node.transitions.get(`xstate.${end}.actor.${id}`);
        expect(list?.length, `${node.id} ${end} ${id}`).toBeGreaterThan(0);
        expect(list?.at(-1)?.guard, `${node.id} ${end} ${id}`).toBeUndefined();
      }
    }
  });

  it('every effect and every delay is named, and no wildcard takes what nobody thought of', () => {
    for (const node of nodes) {
      for (const { id, src } of node.invoke) expect(src, node.id).toBe(id);
      for (const event of node.transitions.keys()) expect(event, node.id).not.toMatch(/\*/);
    }
    const delays = nodes.flatMap((node) => node.after.map(({ delay }) => typeof delay));
    expect(new Set(delays)).toEqual(new Set(['string']));
  });

  it('chasing always transitions throw instead of hanging the driver', () => {
    expect(jobMachine.options?.maxIterations).toBe(1000);
  });
});

describe('every branch', () => {
  it('of every event, timer and result is enabled somewhere', () => {
    const hit = new Set(graph.edges.flatMap((edge) => [...edge.branches]));
    const missing = [...branches].filter(([branch, name]) => !hit.has(branch) && !name.includes(' always '));
    expect(missing.map(([, name]) => name)).toEqual([]);
    expect(hit.size).toBeGreaterThan(90);
  });

  it('names the rule it implements, and every rule is implemented', () => {
    for (const [branch, name] of branches) expect(Object.keys(RULES), name).toContain(branch.meta?.rule);
    expect(new Set([...branches.keys()].map((branch) => branch.meta?.rule))).toEqual(new Set(Object.keys(RULES)));
  });
});
