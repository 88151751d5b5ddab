// Random plans. Mishaps come at a second, or at the n-th visit of a named place; both shrink well.
import fc from 'fast-check';
import { type AgentStyle, STYLES } from './agent.ts';
import { LAST_MISHAP_S, type Mishap, type Plan } from './plan.ts';

const around = (...steps: string[]) => steps.flatMap((step) => [`${step}:before`, `${step}:after`]);

/** Where a driver's death hurts most. Every one must have been visited, or a suite proves nothing. */
export const PLACES = Object.freeze([
  ...around('claim', 'renew', 'release', 'mintKey', 'acquireSession', 'releaseSession', 'quarantineSession', 'deliver'),
  ...around('prepare', 'remove-key', 'unlink', 'interrupt', 'clear', 'reap', 'drop-mark', 'spawn'),
  ...around('paste', 'enter', 'remind-paste', 'remind-enter', 'enter-again'),
  ...['paste', 'enter', 'enter-again', 'remind-paste', 'remind-enter', 'interrupt', 'spawn'].flatMap((step) => [
    ...around(`commit step.started ${step}`, `commit step ${step}: done`),
  ]),
  ...around('commit step paste: withheld'),
  ...[
    'sessionLease',
    'preflight',
    'awaitIdle',
    'openWays',
    'inject',
    'remind',
    'readDisk',
    'drainWays',
    'awaitTurn',
    'verifyReport',
  ].flatMap((effect) => around(`commit done ${effect}`)),
  ...[
    'turn.working',
    'turn.settled',
    'turn.blocked',
    'turn.hidden',
    'nonce.seen',
    'hold.seen',
    'agent.exited',
    'bus.lost',
    'bus.back',
  ].flatMap((seen) => around(`commit ${seen}`)),
  ...[
    'started',
    'progress',
    'completed',
    'failed',
    'permission_required',
    'cancelled',
    'redispatch',
    'cleanup done',
  ].flatMap((what) => around(`commit ${what}`)),
  ...[
    'deadline',
    'idleTimeout',
    'permissionTimeout',
    'quiet',
    'idleProbeLimit',
    'idleBackoff',
    'openWaysLimit',
    'diskPoll',
    'settleGrace',
  ].flatMap((timer) => around(`commit ${timer}`)),
  'mark:before',
  'mark:raise',
  'mark:after',
  'look',
  'holding',
  'evidence',
  'inspect paste',
  'attach',
  'verify',
  'open ways',
  'hint',
  'spool news',
  'bus connects',
  'bus lost',
  'bus news',
  'bus message',
  'suback',
  'read undecided',
  'read timers',
  'read openWork',
  'read step',
]);

const DRIVERS: Mishap['do'][] = [
  'kill',
  'kill',
  'stall',
  'long-stall',
  'second-driver',
  'night',
  'absence',
  'short-absence',
  'stop',
  'full-disk',
  'slow',
];
const OTHERS: Mishap['do'][] = [
  'draft',
  'clear',
  'person-submits',
  'dialog',
  'answer',
  'close-pane',
  'hide',
  'show',
  'cancel',
  'close',
  'redispatch',
  'cancel-command',
  'close-command',
  'duplicate',
  'forge',
  'old-attempt',
  'deaf-agent',
  'bus-away',
  'bus-away',
  'bus-back',
  'bus-blinks',
];

const mishap: fc.Arbitrary<Mishap> = fc.record({
  at: fc.oneof(
    { weight: 2, arbitrary: fc.record({ second: fc.nat(LAST_MISHAP_S) }) },
    {
      weight: 3,
      arbitrary: fc.record({ label: fc.constantFrom(...PLACES), nth: fc.integer({ min: 1, max: 3 }) }),
    },
  ),
  do: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...DRIVERS) },
    { weight: 1, arbitrary: fc.constantFrom(...OTHERS) },
  ),
});

const steps = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 2, max: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 400 }) },
);

export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  seed: fc.nat(1_000_000),
  world: fc.record({
    kind: fc.oneof(
      { weight: 2, arbitrary: fc.constant('pane' as const) },
      { weight: 1, arbitrary: fc.constant('process' as const) },
    ),
    style: fc.constantFrom(...STYLES),
    work: steps,
    blind: fc.boolean(),
    recordLag: fc.constantFrom(0, 3_000, 20_000),
    way: fc.constantFrom('inbox' as const, 'spool' as const, 'bus' as const),
    busOnly: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    busless: fc.oneof({ weight: 7, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  }),
  jobs: fc.constantFrom(1 as const, 2 as const),
  mishaps: fc.array(mishap, { maxLength: 8 }),
});

const pane = (style: AgentStyle, work: number, mishaps: Mishap[]): Plan => ({
  seed: 1,
  world: { kind: 'pane', style, work, recordLag: 0, way: 'spool' },
  jobs: 1,
  mishaps,
});

const busOnly = (style: AgentStyle, mishaps: Mishap[]): Plan => {
  const plan = pane(style, 20, mishaps);
  return { ...plan, world: { ...plan.world, way: 'bus', busOnly: true } };
};

/** Places and ends that chance finds too seldom; played before the random plans. */
export const EXAMPLES: [Plan][] = [
  // The Enter was marked and not pressed: one more, as a step of its own.
  [pane('reports', 10, [{ at: { label: 'enter:before', nth: 1 }, do: 'kill' }])],
  // The look in the last moment forbids it.
  [pane('reports', 10, [{ at: { label: 'paste:before', nth: 1 }, do: 'draft' }])],
  // A dialog stays open before anything was sent.
  [
    pane('reports', 400, [
      { at: { second: 0 }, do: 'draft' },
      { at: { second: 0 }, do: 'person-submits' },
      { at: { second: 5 }, do: 'dialog' },
    ]),
  ],
  // The reminder helps.
  [pane('needs-reminder', 10, [])],
  // Nobody knows whether it was pasted, and nothing is ever heard.
  [
    pane('quiet', 300, [
      { at: { label: 'paste:after', nth: 1 }, do: 'hide' },
      { at: { label: 'commit step paste: done:before', nth: 1 }, do: 'kill' },
      { at: { label: 'inspect paste', nth: 1 }, do: 'clear' },
    ]),
  ],
  // The screen cannot be read while the agent works.
  [pane('quiet', 60, [{ at: { second: 15 }, do: 'hide' }])],
  // The bus was never there: not sent. It goes for good in the middle of the work of an agent that says nothing: exit 3.
  [busOnly('reports', [{ at: { second: 0 }, do: 'bus-away' }])],
  [busOnly('mute', [{ at: { second: 20 }, do: 'bus-away' }])],
  // It goes, and comes back; what was said meanwhile was left in the spool, or is said again.
  [
    busOnly('reports', [
      { at: { second: 8 }, do: 'bus-away' },
      { at: { second: 30 }, do: 'bus-back' },
    ]),
  ],
];
