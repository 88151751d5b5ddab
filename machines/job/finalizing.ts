// finalizing: every end after subscribed passes here. Drain the ways in; for an agent's own report wait for its turn, then
// verify. The deadline is off: each step has a limit of its own.
import { rule } from './rules.ts';
import { endAs, job } from './setup.ts';

const drained = [
  { guard: 'agentReported' as const, target: 'settling', ...rule('F1') },
  { target: 'ending', ...rule('F1') },
];
const settledBy = (note: 'noteSettled' | 'noteUnsettled') => [
  { guard: 'claimsSuccess' as const, target: 'verifying', actions: note, ...rule('F3') },
  { target: 'ending', actions: note, ...rule('F3') },
];
const invalid = (why: string) => ({ type: 'endInvalid' as const, params: { why } });

export const finalizing = job.createStateConfig({
  id: 'finalizing',
  tags: 'finalizing',
  description: 'Drain the ways in; wait for the turn and verify an agent’s own report.',
  initial: 'draining',
  on: {
    completed: {
      guard: 'outcomeIsProvisional',
      target: '.draining',
      reenter: true,
      actions: endAs('completed', 'reported'),
      ...rule('F2'),
    },
    failed: {
      guard: 'outcomeIsProvisional',
      target: '.draining',
      reenter: true,
      actions: endAs('failed', 'agent_failed'),
      ...rule('F2'),
    },
  },
  states: {
    draining: {
      invoke: { id: 'drainWays', src: 'drainWays', onDone: drained, onError: drained },
      after: { drainLimit: drained },
    },
    // Settle before verifying: an agent may still touch the report while its turn runs.
    settling: {
      invoke: {
        id: 'awaitTurn',
        src: 'awaitTurn',
        onDone: settledBy('noteSettled'),
        onError: settledBy('noteUnsettled'),
      },
      after: { settleGrace: settledBy('noteUnsettled') },
    },
    verifying: {
      invoke: {
        id: 'verifyReport',
        src: 'verifyReport',
        onDone: [
          { guard: { type: 'reportIsValid', params: ({ event }) => event.output }, target: 'ending', ...rule('F4') },
          {
            target: 'ending',
            actions: {
              type: 'endInvalid',
              params: ({ event }) => ({ why: event.output.why ?? 'the report does not verify' }),
            },
            ...rule('F5'),
          },
        ],
        onError: { target: 'ending', actions: invalid('the report could not be verified'), ...rule('F5') },
      },
      after: { verifyLimit: { target: 'ending', actions: invalid('verifying took too long'), ...rule('F5') } },
    },
    ending: {
      always: [
        { guard: 'claimsSuccess', target: '#completed', ...rule('F6') },
        { guard: 'claimsFailure', target: '#failed', ...rule('F6') },
        { target: '#cancelled', ...rule('F6') },
      ],
    },
  },
});
