// kill -9 of the driver before and after each commit of a job, then another driver: the same end as without, the prompt received
// exactly once, nothing lost, nothing left behind. Enumerated: every commit of the undisturbed run in turn.
import { describe, expect, it } from 'vitest';
import { type Ending, endingOf, nameOf, type Place, placesOf, planFor } from '../simulation/deaths.ts';
import { simulate } from '../simulation/simulate.ts';
import type { WorldOptions } from '../simulation/world.ts';

const pane = { kind: 'pane', work: 8, recordLag: 0, way: 'spool' } as const;
const process = { kind: 'process', work: 8, recordLag: 0, way: 'inbox' } as const;

/** Deaths between a mark and the key that it announces: nobody may press it any more, and the truth is told instead. */
type Exceptions = Record<string, Pick<Ending, 'outcome' | 'received'>>;
const NOT_PASTED: Exceptions = {
  'commit step.started paste:after #1': {
    outcome: { status: 'cancelled', reason: 'not_delivered' },
    received: {},
  },
};
const NOT_REMINDED: Exceptions = {
  'commit step.started remind-paste:after #1': {
    outcome: { status: 'failed', reason: 'idle_timeout' },
    received: { 'prompt a/1': 1 },
  },
};

const CASES: { tells: string; world: WorldOptions; ends: string; exceptions: Exceptions }[] = [
  { tells: 'a pane reports', world: { ...pane, style: 'reports' }, ends: 'completed reported', exceptions: NOT_PASTED },
  {
    tells: 'a pane needs the reminder',
    world: { ...pane, style: 'needs-reminder', way: 'inbox' },
    ends: 'completed reported',
    exceptions: { ...NOT_PASTED, ...NOT_REMINDED },
  },
  { tells: 'a pane fails', world: { ...pane, style: 'fails' }, ends: 'failed agent_failed', exceptions: NOT_PASTED },
  { tells: 'a process reports', world: { ...process, style: 'reports' }, ends: 'completed reported', exceptions: {} },
  {
    tells: 'a process reports by the spool and talks on',
    world: { ...process, style: 'reports-early', way: 'spool' },
    ends: 'completed reported',
    exceptions: {},
  },
  { tells: 'a process exits', world: { ...process, style: 'exits' }, ends: 'failed agent_exited', exceptions: {} },
  {
    tells: 'a process hands in a bad report',
    world: { ...process, style: 'bad-report' },
    ends: 'failed report_invalid',
    exceptions: {},
  },
];

const isCommit = (label: string): boolean => label.startsWith('commit ');

describe.each(CASES)('$tells', ({ world, ends, exceptions }) => {
  it('ends the same wherever the driver dies', { timeout: 300_000 }, async () => {
    const undisturbed = endingOf(await simulate(planFor(world)));
    expect(undisturbed.broken).toEqual([]);
    expect(`${undisturbed.outcome?.status} ${undisturbed.outcome?.reason}`).toBe(ends);
    expect(undisturbed.received['prompt a/1']).toBe(1);

    const places = await placesOf(world, isCommit);
    // Both sides of at least every state, step and report.
    expect(places.length).toBeGreaterThan(20);
    const met: string[] = [];
    for (const place of places) {
      const died = await dieAt(world, place);
      const exception = exceptions[nameOf(place)];
      if (exception) met.push(nameOf(place));
      expect(died, nameOf(place)).toEqual(exception ? { ...exception, broken: [] } : undisturbed);
    }
    expect(met).toEqual(Object.keys(exceptions));
  });
});

async function dieAt(world: WorldOptions, place: Place): Promise<Ending> {
  const result = await simulate(planFor(world, place));
  // Somebody did die: the row was claimed a second time, if there was anything left to do.
  if (place.label !== 'commit cleanup done:after') expect(result.rows[0]?.epoch, nameOf(place)).toBeGreaterThan(1);
  return endingOf(result);
}
