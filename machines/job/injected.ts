// injected: delivery, turn, activity and channel run side by side.
import { and, not } from 'xstate';
import { rule } from './rules.ts';
import { endAs, job } from './setup.ts';

/** Used by the deadline's timer and by `close`. */
export const deadlineBranches = [
  {
    guard: and(['unheard', 'deliveryStarted']),
    target: '#finalizing',
    actions: endAs('failed', 'bus_away'),
    ...rule('D3'),
  },
  { guard: 'unheard' as const, target: '#finalizing', actions: endAs('cancelled', 'bus_away'), ...rule('D4') },
  {
    guard: 'deliveryStarted' as const,
    target: '#finalizing',
    actions: endAs('failed', 'deadline_timeout'),
    ...rule('D1'),
  },
  { guard: 'sawDialog' as const, target: '#finalizing', actions: endAs('cancelled', 'session_blocked'), ...rule('D2') },
  { target: '#finalizing', actions: endAs('cancelled', 'session_busy'), ...rule('D2') },
];

const notDelivered = { target: '#finalizing', actions: endAs('cancelled', 'not_delivered') };

const delivery = job.createStateConfig({
  initial: 'submitting',
  states: {
    submitting: {
      id: 'submitting',
      initial: 'holding',
      invoke: {
        id: 'inject',
        src: 'inject',
        onDone: [
          {
            guard: { type: 'wasAccepted', params: ({ event }) => event.output },
            target: 'accepted',
            actions: 'noteDelivery',
            ...rule('V2'),
          },
          { guard: { type: 'wasRejected', params: ({ event }) => event.output }, ...notDelivered, ...rule('V3') },
          { guard: 'deliveryStarted', target: 'unknown', ...rule('V4') },
          { ...notDelivered, ...rule('V3') },
        ],
        onError: [
          { guard: 'deliveryStarted', target: 'unknown', ...rule('V4') },
          { ...notDelivered, ...rule('V3') },
        ],
      },
      on: { 'nonce.seen': { target: 'accepted', actions: 'noteDelivery', ...rule('V2') } },
      states: {
        // A draft, a dialog, somebody else's turn: held until the deadline, nothing typed.
        holding: {
          on: { 'step.started': { guard: 'isDeliveryStep', target: 'typing', actions: 'noteDelivery', ...rule('V1') } },
        },
        typing: { after: { typingLimit: { target: '#deliveryUnknown', ...rule('V4') } } },
      },
    },
    accepted: { id: 'accepted' },
    unknown: {
      id: 'deliveryUnknown',
      on: {
        'nonce.seen': { target: 'accepted', ...rule('V5') },
        started: { target: 'accepted', actions: 'noteAgent', ...rule('V5') },
        progress: { target: 'accepted', actions: 'noteAgent', ...rule('V5') },
        permission_required: { target: 'accepted', actions: 'noteAgent', ...rule('V5') },
        permission_cleared: { target: 'accepted', actions: 'noteAgent', ...rule('V5') },
      },
    },
  },
});

const turn = job.createStateConfig({
  initial: 'notBegun',
  // Here and not at `injected`: a transition from a parallel state into one of its regions leaves and enters all of them, and
  // a broken watcher would start the delivery anew.
  invoke: {
    id: 'watch',
    src: 'watch',
    // A watcher that ends or breaks says nothing about the agent: the turn becomes unobservable, the clocks decide.
    onDone: { target: '.hidden', ...rule('T7') },
    onError: { target: '.hidden', ...rule('T7') },
  },
  on: {
    'turn.working': { target: '.working', ...rule('T1') },
    'turn.hidden': { target: '.hidden', ...rule('T7') },
    permission_required: [
      { guard: 'newerThanQuestion', target: '.blocked', actions: 'notePermission', ...rule('T3') },
      { actions: 'noteAgent', ...rule('T3') },
    ],
    permission_cleared: [
      { guard: 'newerThanQuestion', target: '.working', actions: 'notePermission', ...rule('T3') },
      { actions: 'noteAgent', ...rule('T3') },
    ],
  },
  states: {
    // The previous turn's idle means nothing, so turn.settled is not handled here.
    notBegun: { id: 'notBegun', on: { 'turn.blocked': { target: 'blocked', ...rule('T2') } } },
    working: {
      entry: 'noteRunning',
      on: {
        'turn.blocked': { target: 'blocked', ...rule('T2') },
        'turn.settled': { target: 'settled', ...rule('T6') },
      },
    },
    blocked: {
      // A dialog is open: nothing may be interrupted, since the key would answer it.
      entry: 'noteNotRunning',
      on: {
        'turn.settled': { guard: 'turnBegan', target: 'settled', ...rule('T6') },
        progress: { guard: 'newerThanQuestion', target: 'working', actions: 'noteAgent', ...rule('T4') },
      },
      after: {
        permissionTimeout: [
          {
            guard: 'deliveryStarted',
            target: '#finalizing',
            actions: endAs('failed', 'permission_timeout'),
            ...rule('T5'),
          },
          { target: '#finalizing', actions: endAs('cancelled', 'session_blocked'), ...rule('T11') },
        ],
      },
    },
    settled: {
      id: 'settled',
      entry: 'noteNotRunning',
      initial: 'quiet',
      on: { 'turn.blocked': { target: 'blocked', ...rule('T2') } },
      states: {
        quiet: {
          after: {
            quiet: [
              { guard: 'alreadyReminded', target: 'waiting', ...rule('T9') },
              // Two effects that type at once would mix their texts in one composer.
              { guard: 'deliveryRuns', target: 'quiet', reenter: true, ...rule('T12') },
              // Its answer could not be heard, and the one reminder would be spent.
              { guard: 'unheard', target: 'quiet', reenter: true, ...rule('T13') },
              { target: 'reminding', ...rule('T8') },
            ],
          },
        },
        reminding: {
          invoke: {
            id: 'remind',
            src: 'remind',
            onDone: { target: 'waiting', ...rule('T9') },
            onError: { target: 'waiting', ...rule('T9') },
          },
          on: { 'step.started': { guard: 'isReminderStep', actions: 'noteReminder', ...rule('T10') } },
          // It may wait long for an empty composer, and the bus goes away meanwhile.
          always: { guard: and(['unheard', not('alreadyReminded')]), target: 'quiet', ...rule('T14') },
        },
        waiting: {},
      },
    },
    hidden: {
      id: 'hidden',
      entry: 'noteNotRunning',
      on: {
        'turn.blocked': { target: 'blocked', ...rule('T2') },
        'turn.settled': { guard: 'turnBegan', target: 'settled', ...rule('T6') },
      },
    },
  },
});

const activity = job.createStateConfig({
  initial: 'held',
  states: {
    held: { always: { guard: 'idleClockRuns', target: 'counting', ...rule('C1') } },
    counting: {
      always: { guard: not('idleClockRuns'), target: 'held', ...rule('C2') },
      on: {
        started: { target: 'counting', reenter: true, actions: 'noteAgent', ...rule('C3') },
        progress: { target: 'counting', reenter: true, actions: 'noteAgent', ...rule('C3') },
      },
      after: {
        idleTimeout: [
          {
            guard: 'deliveryUnknown',
            target: '#finalizing',
            actions: endAs('failed', 'delivery_unknown'),
            ...rule('C4'),
          },
          { target: '#finalizing', actions: endAs('failed', 'idle_timeout'), ...rule('C5') },
        ],
      },
    },
  },
});

const channel = job.createStateConfig({
  initial: 'open',
  // Here and not at `injected`, as the watcher.
  invoke: {
    id: 'followBus',
    src: 'followBus',
    onDone: { actions: 'noteNothing', ...rule('B4') },
    // A follower that breaks proves nothing about the bus: what cannot be known counts as away.
    onError: { target: '.away', actions: 'noteBusLost', ...rule('B5') },
  },
  states: {
    open: { on: { 'bus.lost': { target: 'away', actions: 'noteBusLost', ...rule('B1') } } },
    away: {
      initial: 'reading',
      on: {
        'bus.lost': { actions: 'noteBusLost', ...rule('B3') },
        'bus.back': { target: 'open', actions: 'noteBusBack', ...rule('B2') },
      },
      states: {
        reading: {
          invoke: {
            id: 'readDisk',
            src: 'readDisk',
            onDone: { target: 'resting', ...rule('B1') },
            onError: { target: 'resting', ...rule('B1') },
          },
        },
        resting: { after: { diskPoll: { target: 'reading', ...rule('B1') } } },
      },
    },
  },
});

export const injected = job.createStateConfig({
  type: 'parallel',
  tags: 'injected',
  description: 'The prompt goes out and the agent works.',
  on: {
    completed: { target: '#finalizing', actions: endAs('completed', 'reported'), ...rule('A1') },
    failed: { target: '#finalizing', actions: endAs('failed', 'agent_failed'), ...rule('A1') },
    cancelled: { target: '#finalizing', actions: endAs('cancelled', 'cancelled'), ...rule('A2') },
    deadline_timeout: deadlineBranches,
    'agent.exited': [
      { guard: 'deliveryStarted', target: '#finalizing', actions: endAs('failed', 'agent_exited'), ...rule('X1') },
      { ...notDelivered, ...rule('X2') },
    ],
    started: { actions: 'noteAgent', ...rule('A3') },
    progress: { actions: 'noteAgent', ...rule('A3') },
    'hold.seen': { actions: 'noteHold', ...rule('N5') },
  },
  states: { delivery, turn, activity, channel },
});
