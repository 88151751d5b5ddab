// One story for each rule: with the rule the promise holds, without it the simulator shows the breach. A rule is switched off
// by standing between the kernel and one of its ports (twists.ts), or by a world that lacks a capability.
import { describe, expect, it } from 'vitest';
import type { Twist } from './machine-room.ts';
import { LIMITS, type Mishap, type Plan } from './plan.ts';
import { brokenPromises, endsOf } from './promises.ts';
import { simulate } from './simulate.ts';
import * as twists from './twists.ts';
import type { WorldOptions } from './world.ts';

interface Without {
  twist?: Twist;
  world?: Partial<WorldOptions>;
}
interface Story {
  tells: string;
  world?: Partial<WorldOptions>;
  mishaps: Mishap[];
  /** Absent: the rule cannot be taken out by a port; only that it holds is told. */
  without?: Without;
  breach: RegExp;
}

const at = (label: string, nth = 1): Mishap['at'] => ({ label, nth });
const second = (from: number): Mishap['at'] => ({ second: from });

const STORIES: Story[] = [
  {
    tells:
      'a sleeper wakes right after its successor has claimed, before the row has moved (the epoch in the compare-and-set)',
    world: { style: 'quiet', work: 100 },
    mishaps: [
      { at: at('commit turn.working:before'), do: 'stall' },
      { at: at('claim:after', 2), do: 'long-stall' },
    ],
    without: { twist: twists.commitsBlindly },
    breach: /was driven by .* and|although \d+ was claimed/,
  },
  {
    tells:
      'every driver dies before a report is verified, and nobody comes for three minutes (limits are the effect’s own time)',
    mishaps: [{ at: at('commit done awaitTurn:after'), do: 'absence' }],
    without: { twist: twists.limitsCountAlways },
    breach: /came to report_invalid/,
  },
  {
    tells: 'a paste is slow, and the job is cancelled meanwhile (nothing else touches the session before it has ended)',
    world: { fenced: false },
    mishaps: [
      { at: at('paste:before'), do: 'slow' },
      { at: at('paste:before'), do: 'cancel' },
    ],
    breach: /still in the composer|warned/,
  },
  {
    tells: 'a sleeping driver wakes between its mark and the last look at the registry, where no fence helps',
    world: { fenced: false },
    mishaps: [{ at: at('commit step.started paste:after'), do: 'long-stall' }],
    breach: /without its epoch|still in the composer|nothing was sent/,
  },
  {
    tells: 'a sleeping driver wakes after the job has ended and pastes (fences)',
    mishaps: [{ at: at('paste:before'), do: 'long-stall' }],
    without: { world: { fenced: false } },
    breach: /still in the composer|without its epoch/,
  },
  {
    tells: 'an ended lease is taken for a dead driver, and then it pastes (only death proves that nothing was sent)',
    world: { fenced: false },
    mishaps: [
      { at: at('paste:before'), do: 'stall' },
      { at: second(100), do: 'person-submits' },
    ],
    without: { twist: twists.sleepMeansDeath },
    breach: /nothing was sent/,
  },
  {
    tells: 'a driver dies right after the Enter (a mark before each key)',
    world: { recordLag: 20_000 },
    mishaps: [{ at: at('enter:after'), do: 'kill' }],
    without: { twist: twists.unmarkedDelivery },
    breach: /received twice/,
  },
  {
    tells: 'a draft appears between the look and the paste (looks and keys are one action)',
    mishaps: [{ at: at('paste:before'), do: 'draft' }],
    without: { world: { sameBreath: false } },
    breach: /beside a draft/,
  },
  {
    tells:
      'a night without a driver, and the report lies in the inbox when the deadline is overdue (drained before timers)',
    world: { work: 30 },
    mishaps: [{ at: second(20), do: 'night' }],
    without: { twist: twists.clocksFirst },
    breach: /ended (deadline|idle)_timeout/,
  },
  {
    tells:
      'three minutes without a driver, while the screen cannot be read (time in which nobody watched is no silence)',
    world: { style: 'quiet', work: 390 },
    mishaps: [
      { at: second(30), do: 'hide' },
      { at: second(45), do: 'absence' },
      { at: second(270), do: 'show' },
    ],
    without: { twist: twists.clocksNeverShift },
    breach: /came to idle_timeout/,
  },
  {
    tells: 'a permission clock falls due while no driver looks, though it was answered (a look before silence)',
    world: { style: 'quiet', work: 390 },
    mishaps: [
      { at: second(30), do: 'dialog' },
      { at: second(88), do: 'short-absence' },
    ],
    without: { twist: twists.noLookNeeded },
    breach: /permission_timeout although/,
  },
  {
    tells: 'a driver dies right after the interrupt (interrupting is a once step)',
    world: { style: 'mute', work: 300 },
    mishaps: [
      { at: second(40), do: 'cancel' },
      { at: at('interrupt:after'), do: 'kill' },
    ],
    without: { twist: twists.unmarkedInterrupt },
    breach: /interrupted twice/,
  },
  {
    tells: 'a driver sleeps before a commit and is replaced (compare-and-set with the epoch)',
    world: { work: 60 },
    mishaps: [{ at: at('commit progress:before', 2), do: 'stall' }],
    without: { twist: twists.commitsBlindly },
    breach: /was driven by .* and|although \d+ was claimed/,
  },
  {
    tells: 'the bus goes away for good, and what its agent says cannot be heard (the idle clock stands still)',
    world: { style: 'mute', work: 30, busOnly: true },
    mishaps: [{ at: second(25), do: 'bus-away' }],
    without: { twist: twists.silenceAlwaysCounts },
    breach: /although nobody could hear|came to idle_timeout/,
  },
  {
    tells: 'the deadline falls while the bus is away (exit 3, and only then)',
    world: { style: 'hangs', work: 30, busOnly: true },
    mishaps: [{ at: second(25), do: 'bus-away' }],
    without: { twist: twists.nobodyFollowsTheBus },
    breach: /although the bus was away/,
  },
  {
    tells: 'the bus was away and is back when the deadline falls (exit 2)',
    world: { style: 'hangs', work: 30, busOnly: true },
    mishaps: [
      { at: second(25), do: 'bus-away' },
      { at: second(100), do: 'bus-back' },
    ],
    breach: /although the bus was there|came to bus_away/,
  },
  {
    tells: 'a stranger says that it failed (signatures)',
    world: { work: 40 },
    mishaps: [{ at: second(15), do: 'forge' }],
    without: { twist: twists.believesEverybody },
    breach: /without a signed word/,
  },
];

const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7];

const play = async (story: Story, seed: number, { twist = {}, world = {} }: Without = {}): Promise<string[]> => {
  const plan: Plan = {
    seed,
    jobs: 1,
    mishaps: story.mishaps,
    world: { kind: 'pane', style: 'reports', work: 20, recordLag: 0, way: 'inbox', ...story.world, ...world },
  };
  const result = await simulate(plan, twist);
  const ends = [...endsOf(result.log)].map(([address, { reason }]) => `${address} came to ${reason}`);
  return [...brokenPromises(result), ...ends].filter((what) => story.breach.test(what));
};

describe.each(STORIES.filter(({ without }) => without))('$tells', (story) => {
  it('breaks a promise without the rule', async () => {
    for (const seed of SEEDS) if ((await play(story, seed, story.without)).length > 0) return;
    expect.fail('no seed shows the breach: the story does not tell what the rule is for');
  });
});

describe.each(STORIES)('$tells', (story) => {
  it('keeps it with the rule', async () => {
    for (const seed of SEEDS) expect(await play(story, seed)).toEqual([]);
  });
});

describe('a session that a job never touched', () => {
  // A person works in it for long, so the job ends with exit 5 and may be dispatched again: nothing of ours is there to wait for.
  const plan: Plan = {
    seed: 3,
    jobs: 1,
    mishaps: [
      { at: second(0), do: 'draft' },
      { at: second(0), do: 'person-submits' },
      { at: second(158), do: 'redispatch' },
    ],
    world: { kind: 'pane', style: 'reports', work: 400, recordLag: 0, way: 'inbox' },
  };

  it('is released at once and not quarantined', async () => {
    const { log, visits, ...result } = await simulate(plan);
    expect(brokenPromises({ log, visits, ...result })).toEqual([]);
    const first = log.find(({ outcome }) => outcome !== null);
    expect(first?.outcome).toEqual({ status: 'cancelled', reason: 'session_busy' });
    const redispatch = log.find(({ what }) => what === 'redispatch');
    expect(redispatch).toMatchObject({ verdict: 'begin', attempt: 2 });
    expect(visits.has('quarantineSession:before')).toBe(false);
  });
});

describe('a dialog that opens between the end and the interrupt', () => {
  // A session whose look and key are two actions: only the look before it keeps the key from answering the dialog.
  const plan: Plan = {
    seed: 4,
    jobs: 1,
    mishaps: [
      { at: second(40), do: 'cancel' },
      { at: at('commit done drainWays:after'), do: 'dialog' },
    ],
    world: { kind: 'pane', style: 'mute', work: 300, recordLag: 0, way: 'inbox', sameBreath: false },
  };

  it('is left untouched: no key is sent', async () => {
    const result = await simulate(plan);
    expect(result.world.breaches).toEqual([]);
    expect(result.log.filter(({ what }) => what.startsWith('step interrupt')).map(({ what }) => what)).toEqual([
      'step interrupt: withheld',
    ]);
    expect(endsOf(result.log).get('a/1')).toEqual({ status: 'cancelled', reason: 'cancelled' });
  });

  it('without it the turn is interrupted, once', async () => {
    const result = await simulate({ ...plan, mishaps: plan.mishaps.slice(0, 1) });
    expect(brokenPromises(result)).toEqual([]);
    expect(result.log.filter(({ what }) => what === 'step interrupt: done')).toHaveLength(1);
  });
});

describe('a decision that throws', () => {
  const plan: Plan = {
    seed: 5,
    jobs: 1,
    mishaps: [],
    world: { kind: 'process', style: 'asks', work: 20, recordLag: 0, way: 'inbox' },
  };

  it('makes the row faulted, and its deadline closes it and tidies up', async () => {
    const result = await simulate(plan, twists.throwing('newerThanQuestion'));
    const faults = result.log.filter(({ what }) => what === 'fault');
    expect(faults.length).toBeGreaterThanOrEqual(3);
    expect(result.rows[0]?.outcome).toEqual({ status: 'failed', reason: 'internal_error' });
    expect(result.simulatedMs).toBeGreaterThan(LIMITS.deadline);
    const expected = /is faulted: .*\nbroken on purpose/;
    expect(brokenPromises(result).filter((what) => !expected.test(what))).toEqual([]);
  });
});

describe('a disk that is full for 20 s', () => {
  it.each(['completed', 'step.started paste', 'step paste: done', 'done verifyReport', 'cleanup done'])(
    'at commit %s loses nothing, and is not asked more than about once a second',
    async (what) => {
      const plan: Plan = {
        seed: 2,
        jobs: 1,
        mishaps: [{ at: at(`commit ${what}:before`), do: 'full-disk' }],
        world: { kind: 'pane', style: 'reports', work: 20, recordLag: 0, way: 'spool' },
      };
      const result = await simulate(plan);
      expect(brokenPromises(result)).toEqual([]);
      expect(result.rows[0]?.outcome).toEqual({ status: 'completed', reason: 'reported' });
      expect(result.warnings.length).toBeGreaterThan(0);
      // A loop, its effects and the renewal each meet it, and each waits before it tries again.
      expect(result.warnings.length).toBeLessThan(120);
    },
  );
});
