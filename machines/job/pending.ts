// queued … subscribed: before anything can have been typed.
import { rule } from './rules.ts';
import { endAs, job } from './setup.ts';

/** `close deadline_timeout` before injected. */
const closedEarly = [
  {
    guard: 'sawDialog' as const,
    target: '#cancelled',
    actions: endAs('cancelled', 'session_blocked'),
    ...rule('N3'),
  },
  { target: '#cancelled', actions: endAs('cancelled', 'session_busy'), ...rule('N3') },
];

/** What every state before injected answers. An agent that reports here did the work without our prompt. */
export const pending = job.createStateConfig({
  tags: 'pending',
  on: {
    started: { actions: 'noteAgent', ...rule('N1') },
    progress: { actions: 'noteAgent', ...rule('N1') },
    permission_required: { actions: 'noteAgent', ...rule('N1') },
    permission_cleared: { actions: 'noteAgent', ...rule('N1') },
    completed: { target: '#finalizing', actions: endAs('completed', 'reported'), ...rule('N2') },
    failed: { target: '#finalizing', actions: endAs('failed', 'agent_failed'), ...rule('N2') },
    deadline_timeout: closedEarly,
    cancelled: { target: '#cancelled', actions: endAs('cancelled', 'cancelled'), ...rule('N4') },
    'hold.seen': { actions: 'noteHold', ...rule('N5') },
  },
});

export const queued = job.createStateConfig({
  ...pending,
  description: 'Waits for the session lease, first come first served.',
  invoke: {
    id: 'sessionLease',
    src: 'sessionLease',
    onDone: { target: '#preflight', ...rule('Q1') },
    onError: { target: '#cancelled', actions: endAs('cancelled', 'session_busy'), ...rule('Q3') },
  },
  after: { queueTimeout: { target: '#cancelled', actions: endAs('cancelled', 'session_busy'), ...rule('Q2') } },
});

export const preflight = job.createStateConfig({
  ...pending,
  id: 'preflight',
  description: 'Transport, session, agent, role, version; the key minted, directory and brief written.',
  invoke: {
    id: 'preflight',
    src: 'preflight',
    onDone: { target: '#idle-wait', ...rule('P1') },
    onError: { target: '#cancelled', actions: endAs('cancelled', 'preflight_failed'), ...rule('P2') },
  },
  after: { preflightLimit: { target: '#cancelled', actions: endAs('cancelled', 'preflight_failed'), ...rule('P2') } },
});

export const idleWait = job.createStateConfig({
  ...pending,
  id: 'idle-wait',
  description: 'Until the agent is idle, twice in a row. Nothing was sent: never a timeout.',
  initial: 'probing',
  states: {
    probing: {
      invoke: {
        id: 'awaitIdle',
        src: 'awaitIdle',
        onDone: { target: '#dispatched', ...rule('I1') },
        onError: { target: '#cancelled', actions: endAs('cancelled', 'preflight_failed'), ...rule('I2') },
      },
      after: {
        idleProbeLimit: [
          { guard: 'retriesLeft', target: 'resting', actions: 'spendRetry', ...rule('I3') },
          { guard: 'sawDialog', target: '#cancelled', actions: endAs('cancelled', 'session_blocked'), ...rule('I4') },
          { target: '#cancelled', actions: endAs('cancelled', 'session_busy'), ...rule('I4') },
        ],
      },
    },
    resting: { after: { idleBackoff: { target: 'probing', ...rule('I5') } } },
  },
});

export const subscribed = job.createStateConfig({
  ...pending,
  description: 'Every way in is opened before anything is sent.',
  on: {
    ...pending.on,
    'bus.lost': { actions: 'noteBusLost', ...rule('S3') },
    'bus.back': { actions: 'noteBusBack', ...rule('S4') },
    deadline_timeout: [
      { guard: 'unheard', target: '#cancelled', actions: endAs('cancelled', 'bus_away'), ...rule('N6') },
      ...closedEarly,
    ],
  },
  invoke: {
    id: 'openWays',
    src: 'openWays',
    // Every way is open: whatever was said of the bus before is over.
    onDone: { target: 'injected', actions: 'noteBusBack', ...rule('S1') },
    onError: { target: '#cancelled', actions: endAs('cancelled', 'no_channel'), ...rule('S2') },
  },
  after: { openWaysLimit: { target: '#cancelled', actions: endAs('cancelled', 'no_channel'), ...rule('S2') } },
});
