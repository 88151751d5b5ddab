// The words for states and timers against the machine itself: a state or a timer without words is found here.
import { describe, expect, it } from 'vitest';
import { jobMachine } from '../../machines/job/machine.ts';
import { busAwayOf, isUnheard, THEN, WAITS, waitsFor } from '../../src/cli/waiting.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { timersThatMatter, untilOf } from '../../src/jobs/status.ts';
import { FAULT_TIMER } from '../../src/kernel/faults.ts';
import type { Row, TimerRow } from '../../src/kernel/ports.ts';

interface Node {
  key: string;
  type: string;
  path: string[];
  states: Record<string, Node>;
  config: { after?: object };
}

const nodes: Node[] = [];
(function collect(node: Node) {
  nodes.push(node);
  for (const child of Object.values(node.states)) collect(child);
})(jobMachine.root as unknown as Node);

/** What jobs/definition.ts makes of each leaf that a reader can be shown, in the delivery and the turn of injected. */
const leaves = nodes
  .filter(({ states }) => Object.keys(states).length === 0)
  .map(({ path }) => path.join('.').replace(/^dispatched\./, ''))
  .filter((path) => !/^injected\.(activity|channel)\.|^finalizing\.ending$|^injected\.delivery\.accepted$/.test(path))
  .map((path) => path.replace(/^injected\.(delivery|turn)\./, 'injected.'));

describe('what a state waits for', () => {
  it('finds the states of the machine', () => {
    expect(leaves).toContain('injected.submitting.typing');
    expect(leaves).toContain('idle-wait.probing');
    expect(leaves.length).toBeGreaterThan(18);
  });

  it.each(leaves)('%s has words', (state) => {
    expect(waitsFor(state)).not.toBe(`is in ${state}`);
  });

  it('has words for nothing else', () => {
    expect(
      Object.keys(WAITS).filter((state) => !leaves.some((leaf) => leaf === state || leaf.startsWith(`${state}.`))),
    ).toEqual([]);
  });

  const row = (phase: Row['phase'], context: object) => ({ phase, snapshot: { context } }) as unknown as Row;

  it('tells why the bus is away, while the job is under way', () => {
    const away = { busOnly: true, busAway: 'connection refused\u001b[2J' };
    expect(waitsFor('injected.working', busAwayOf(row('injected', away)))).toMatch(
      /; the bus is away: connection refused/,
    );
    expect(waitsFor('injected.working', busAwayOf(row('injected', away)))).not.toContain('\u001b');
    expect(busAwayOf(row('failed', away))).toBeNull();
    expect(busAwayOf(row('injected', { busOnly: true, busAway: null }))).toBeNull();
    expect([isUnheard(row('injected', away)), isUnheard(row('injected', { ...away, busOnly: false }))]).toEqual([
      true,
      false,
    ]);
  });

  it('falls back to the bare state', () => {
    expect(waitsFor('elsewhere')).toBe('is in elsewhere');
  });
});

describe('what a timer does', () => {
  const delays = [...new Set(nodes.flatMap(({ config }) => Object.keys(config.after ?? {})))];

  it('has words for exactly the timers of the machine and of the kernel', () => {
    expect(delays.length).toBeGreaterThan(10);
    expect(Object.keys(THEN).sort()).toEqual([...delays, FAULT_TIMER].sort());
  });

  it('says of the deadline what it does before and after the delivery', () => {
    expect(THEN.deadline!(true)).toContain('exit 2');
    expect(THEN.deadline!(false)).toContain('exit 5');
  });

  it('says of a bus-only agent that cannot be heard what comes of it', () => {
    expect(THEN.deadline!(true, true)).toMatch(/^failed bus_away.*exit 3/);
    expect(THEN.deadline!(false, true)).toMatch(/^cancelled bus_away.*exit 3/);
    expect(THEN.quiet!(true, true)).not.toContain('reminds');
  });

  const timer = (delay: string, fireAt: number): TimerRow => ({
    job: 'j',
    id: delay,
    delay,
    armedVersion: 1,
    fireAt,
    event: { type: delay },
    silence: jobDefinition.isSilence(delay),
  });

  it('takes the earliest that ends something', () => {
    const timers = [timer('deadline', 900), timer('quiet', 100), timer('idleTimeout', 500), timer('diskPoll', 50)];
    expect(timersThatMatter(timers).map(({ delay }) => delay)).toEqual(['idleTimeout', 'deadline']);
    expect(untilOf(timers)).toBe(500);
  });

  it('takes a pause where nothing else runs, and nothing where no clock runs', () => {
    expect(untilOf([timer('idleBackoff', 100)])).toBe(100);
    expect(untilOf([])).toBeNull();
  });
});
