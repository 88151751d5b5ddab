// Breaks of the rules, one by one: guards, rows of the table, compare-and-set, timers, effects. Each must make a test fail.
// `from` must occur exactly once in its file, so that a mutant cannot go stale unnoticed.

export interface Mutant {
  breaks: string;
  file: string;
  from: string;
  to: string;
}

const setup = 'machines/job/setup.ts';
const table = 'machines/job/table.ts';
const plans = 'src/registry/sqlite/plans.ts';

export const MUTANTS: readonly Mutant[] = [
  // guards
  guard('retriesLeft', 'context.idleRetries > 0', 'context.idleRetries >= 0'),
  guard('sawDialog', "context.hold === 'dialog'", "context.hold === 'busy'"),
  guard('deliveryStarted', '({ context }) => context.deliveryStarted,', '() => true,'),
  guard('isDeliveryStep', "event.type === 'step.started' && saysDelivery(event.step)", "event.type === 'step.started'"),
  guard('wasRejected', "params.delivery === 'rejected'", "params.delivery !== 'accepted'"),
  guard('alreadyReminded', '({ context }) => context.reminded,', '() => false,'),
  guard('newerThanQuestion', 'event.seq > context.lastPermission', 'event.seq >= context.lastPermission'),
  guard('reportIsValid', 'params.valid,', 'true,'),
  guard('agentReported', 'isReport(context.outcome),\n    claims', 'true,\n    claims'),
  guard('outcomeIsProvisional', "      context.outcome?.reason !== 'cancelled',", '      true,'),
  guard(
    'idleClockRuns',
    "or([stateIn('#notBegun'), stateIn('#settled'), stateIn('#hidden')]),",
    "or([stateIn('#settled'), stateIn('#hidden')]),",
  ),
  // a bus-only agent that cannot be heard
  guard('unheard: only bus-only jobs', 'context.busOnly && context.busAway !== null', 'context.busAway !== null'),
  guard('unheard: only while the bus is away', 'context.busOnly && context.busAway !== null', 'context.busOnly'),
  guard('unheard: the idle clock stands still', "      not('unheard'),\n", ''),
  {
    breaks: 'unheard: failed bus_away only if sent',
    file: 'machines/job/injected.ts',
    from: "guard: and(['unheard', 'deliveryStarted']),",
    to: "guard: 'unheard' as const,",
  },
  {
    breaks: 'unheard: cancelled bus_away at the deadline',
    file: 'machines/job/injected.ts',
    from: "actions: endAs('cancelled', 'bus_away'), ...rule('D4')",
    to: "actions: endAs('cancelled', 'session_busy'), ...rule('D4')",
  },
  {
    breaks: 'unheard: cancelled bus_away by close in subscribed',
    file: 'machines/job/pending.ts',
    from: "{ guard: 'unheard', target: '#cancelled', actions: endAs('cancelled', 'bus_away')",
    to: "{ guard: 'unheard', target: '#cancelled', actions: endAs('cancelled', 'session_busy')",
  },
  {
    breaks: 'unheard: no reminder is begun',
    file: 'machines/job/injected.ts',
    from: "{ guard: 'unheard', target: 'quiet', reenter: true, ...rule('T13') }",
    to: "{ guard: 'unheard', target: 'reminding', ...rule('T13') }",
  },
  {
    breaks: 'unheard: a reminder that was not typed is taken back',
    file: 'machines/job/injected.ts',
    from: "always: { guard: and(['unheard', not('alreadyReminded')]), target: 'quiet', ...rule('T14') },",
    to: '',
  },
  {
    breaks: 'bus: open ways mean that it is there',
    file: 'machines/job/pending.ts',
    from: "onDone: { target: 'injected', actions: 'noteBusBack', ...rule('S1') },",
    to: "onDone: { target: 'injected', ...rule('S1') },",
  },
  {
    breaks: 'bus: a follower that breaks proves nothing',
    file: 'machines/job/injected.ts',
    from: "onError: { target: '.away', actions: 'noteBusLost', ...rule('B5') },",
    to: "onError: { actions: 'noteNothing', ...rule('B5') },",
  },
  {
    breaks: 'bus: why it is away is the detail of the end',
    file: setup,
    from: "if (reason === 'bus_away') return busAway;",
    to: '',
  },
  {
    breaks: 'exit: bus_away is 3',
    file: 'machines/job/exit.ts',
    from: "if (outcome.reason === 'bus_away') return EXIT.busAway;",
    to: '',
  },
  {
    breaks: 'bus: a bus-only job waits until it is heard',
    file: 'src/jobs/channel.ts',
    from: 'if (!isBusOnly(await env.row())) return;\n  const',
    to: 'if (env.job) return;\n  const',
  },
  {
    breaks: 'bus: no bus at all ends a bus-only job',
    file: 'src/jobs/channel.ts',
    from: 'if (!bus) throw new Error(NO_BUS);',
    to: 'if (!bus) return;',
  },
  {
    breaks: 'bus: its coming back is told',
    file: 'src/jobs/channel.ts',
    from: "if (away !== null) await env.report({ type: 'bus.back' });",
    to: '',
  },
  {
    breaks: 'bus: nothing is told of a bus that is just being connected',
    file: 'src/jobs/channel.ts',
    from: 'now >= begun + graceMs',
    to: 'now >= begun',
  },
  {
    breaks: 'bus: another reason is not told at each try',
    file: 'src/jobs/channel.ts',
    from: '(sinceMs >= REASON_MS ||',
    to: '(sinceMs >= 0 ||',
  },
  {
    breaks: 'bus: a driver without one leaves the follower to the next',
    file: 'src/jobs/channel.ts',
    from: '  await aborted(env.signal);\n',
    to: '',
  },
  // rows of the table
  {
    breaks: 'table: news while finalizing',
    file: table,
    from: "news: row('take', 'take', 'refused',",
    to: "news: row('take', 'take', 'take',",
  },
  {
    breaks: 'table: completed after failed',
    file: table,
    from: "'take-if-provisional', 'idempotent', 'conflict', 'conflict'),\n  failed",
    to: "'take-if-provisional', 'idempotent', 'idempotent', 'conflict'),\n  failed",
  },
  {
    breaks: 'table: idle_timeout while pending',
    file: table,
    from: "idle_timeout: row('refused', 'take'",
    to: "idle_timeout: row('take', 'take'",
  },
  {
    breaks: 'table: cancelled after completed',
    file: table,
    from: "cancelled: row('take', 'take', 'refused', 'conflict',",
    to: "cancelled: row('take', 'take', 'refused', 'idempotent',",
  },
  {
    breaks: 'table: redispatch while injected',
    file: table,
    from: "redispatch: row('refused', 'refused'",
    to: "redispatch: row('refused', 'begin'",
  },
  // admit
  {
    breaks: 'admit: an event of another attempt',
    file: 'src/kernel/admit.ts',
    from: "if (request.envelope.attempt !== row.attempt) return refused('other_attempt');",
    to: '',
  },
  {
    breaks: 'admit: a bad signature',
    file: 'src/kernel/admit.ts',
    from: "if (!facts.signed) return refused('bad_signature');",
    to: '',
  },
  {
    breaks: 'admit: a late result of an effect',
    file: 'src/kernel/admit.ts',
    from: "if (!facts.causeIsCurrent) return refused('stale_result');",
    to: '',
  },
  {
    breaks: 'admit: the same attempt again',
    file: 'src/kernel/admit.ts',
    from: 'if (attempt <= row.attempt)',
    to: 'if (attempt < row.attempt)',
  },
  {
    breaks: 'admit: redispatch while cleanup is open',
    file: 'src/kernel/admit.ts',
    from: "if (row.cleanup === 'open') return refused('cleanup_open');",
    to: '',
  },
  // compare-and-set
  {
    breaks: 'compare-and-set: the version',
    file: plans,
    from: "const AS_READ = 'id = :id AND version = :version AND epoch = :epoch';",
    to: "const AS_READ = 'id = :id AND :version = :version AND epoch = :epoch';",
  },
  {
    breaks: 'compare-and-set: the epoch',
    file: plans,
    from: "const AS_READ = 'id = :id AND version = :version AND epoch = :epoch';",
    to: "const AS_READ = 'id = :id AND version = :version AND :epoch = :epoch';",
  },
  {
    breaks: 'the mark of a once step is unique',
    file: plans,
    from: 'ON CONFLICT (job, attempt, step) DO NOTHING',
    to: 'ON CONFLICT (job, attempt, step) DO UPDATE SET driver = excluded.driver',
  },
  {
    breaks: 'retry without reading again',
    file: 'src/kernel/handle.ts',
    from: '    held.cached = null;\n    // The step was marked',
    to: '    // The step was marked',
  },
  // decide
  {
    breaks: 'decide: events on a finished snapshot',
    file: 'src/kernel/decide.ts',
    from: "if (before.status !== 'active' || !before.can(event as never)) {",
    to: 'if (!before.can(event as never)) {',
  },
  {
    breaks: 'decide: a lost child',
    file: 'src/kernel/decide.ts',
    from: 'if (lost.length > 0) throw',
    to: 'if (lost.length > 99) throw',
  },
  // timers
  { breaks: 'timers: the ways are drained before', file: 'src/kernel/timers.ts', from: '    await drain();\n', to: '' },
  {
    breaks: 'timers: only when due',
    file: 'src/kernel/timers.ts',
    from: 'fireAt <= now);\n',
    to: 'fireAt <= now + 5000);\n',
  },
  {
    breaks: 'timers: a look since a silence timer fell due',
    file: 'src/kernel/timers.ts',
    from: 'if (!timer.silence || held.lookedAt >= timer.fireAt) return null;',
    to: 'return null;',
  },
  {
    breaks: 'timers: time nobody watched is taken out',
    file: 'src/kernel/context.ts',
    from: 'gapMs: 60_000',
    to: 'gapMs: 60_000_000',
  },
  {
    breaks: 'machine: the deadline is off in finalizing',
    file: 'machines/job/machine.ts',
    from: '      after: { deadline: deadlineBranches },\n',
    to: '',
  },
  // effects
  {
    breaks: 'once: look again after the mark',
    file: 'src/kernel/effect-env.ts',
    from: 'if (!(await isOurs()) || !((await step.may?.()) ?? true)) {',
    to: 'if (!((await step.may?.()) ?? true)) {',
  },
  {
    breaks: 'once: look once more before the act',
    file: 'src/kernel/effect-env.ts',
    from: ' || !((await step.may?.()) ?? true)) {',
    to: ') {',
  },
  {
    breaks: 'once: a step is not repeated',
    file: 'src/kernel/effect-env.ts',
    from: "if (known) return known.result ?? 'unproven';",
    to: '',
  },
  {
    breaks: 'reconcile: stopped effects are aborted',
    file: 'src/kernel/tasks.ts',
    from: 'if (!wanted.some((work) => work.id === task.work.id) ||',
    to: 'if (',
  },
  {
    breaks: 'reconcile: nothing beside an effect that is being stopped',
    file: 'src/kernel/tasks.ts',
    from: 'if ([...held.tasks.values()].some((task) => task.controller.signal.aborted)) return;',
    to: '',
  },
  {
    breaks: 'cleanup: an aborted plan is not done',
    file: 'src/kernel/tasks.ts',
    from: '  if (!undone) return;\n',
    to: '',
  },
  {
    breaks: 'verify: the manifest that completed named',
    file: 'src/jobs/effects.ts',
    from: 'if (verified.sha256 !== manifest)',
    to: 'if (verified.sha256 === manifest && false)',
  },
  {
    breaks: 'cleanup: interrupts with a dialog open',
    file: 'src/jobs/cleanup.ts',
    from: " && look.hold !== 'dialog'",
    to: '',
  },
  {
    breaks: 'drain: spool before inbox',
    file: 'src/kernel/drain.ts',
    from: 'await collectWays(context, held, row);',
    to: '',
  },
  {
    breaks: 'envelope: the signature covers everything',
    file: 'src/signals/signature.ts',
    from: 'sig: _',
    to: 'sig: _, event: __',
  },
];

function guard(name: string, from: string, to: string): Mutant {
  return { breaks: `guard ${name}`, file: setup, from, to };
}
