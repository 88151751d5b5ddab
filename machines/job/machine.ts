// The job machine (docs/design.md section 5). Pure: what may happen, nothing about how.
// It is never started. The kernel calls transition() and makes outbox rows of `invoke` and timer rows of `after`.
import { cleanupPlan } from './cleanup.ts';
import { finalizing } from './finalizing.ts';
import { deadlineBranches, injected } from './injected.ts';
import { idleWait, preflight, queued, subscribed } from './pending.ts';
import { type JobContext, job } from './setup.ts';

/** Entered with the terminal commit, so that what must be undone is written down in the same transaction. */
const end = (id: 'completed' | 'failed' | 'cancelled') =>
  job.createStateConfig({
    id,
    type: 'final',
    entry: { type: 'cleanup', params: ({ context }: { context: JobContext }) => cleanupPlan(context) },
  });

export const jobMachine = job.createMachine({
  id: 'job',
  context: ({ input }) => ({
    ...input,
    outcome: null,
    detail: null,
    manifest: null,
    hold: null,
    deliveryStarted: false,
    reminded: false,
    turnRuns: false,
    lastPermission: 0,
    heardFromAgent: false,
    settled: null,
    busAway: null,
  }),
  initial: 'queued',
  // Without a bound, `always` transitions that chase each other would hang the driver instead of throwing.
  options: { maxIterations: 1000 },
  states: {
    queued,
    preflight,
    'idle-wait': idleWait,
    dispatched: {
      id: 'dispatched',
      description: 'Owns the deadline.',
      initial: 'subscribed',
      after: { deadline: deadlineBranches },
      states: { subscribed, injected },
    },
    finalizing,
    completed: end('completed'),
    failed: end('failed'),
    cancelled: end('cancelled'),
  },
});
