// What one running effect may use, and the once protocol: mark, look again, act, record. It is the only way to press a key.
import { type Context, type EffectEnv, type Held, LEASE, type Task } from './context.ts';
import { drain } from './drain.ts';
import { handle } from './handle.ts';
import type { OnceStep, StepInspection, StepOutcome } from './once.ts';
import type { DriverRecord, Row } from './ports.ts';

export function makeEnv(context: Context, held: Held, task: Task): EffectEnv {
  const { registry, clock } = context;
  const { work, epoch, controller } = task;
  const { job, attempt } = work;
  const mine = { id: job, epoch, attempt };

  const load = async (): Promise<Row> => {
    const row = await registry.load(job);
    if (!row) throw new Error(`job ${job} is gone from the registry`);
    return row;
  };
  /** Asked of the registry, never of memory: a driver that slept must learn here that it was replaced. */
  const isOurs = async (): Promise<boolean> => {
    if (controller.signal.aborted) return false;
    const row = await load();
    if (row.epoch !== epoch || row.attempt !== attempt) return false;
    return (await registry.openWork(job)).some((open) => open.id === work.id);
  };

  const env: EffectEnv = {
    job,
    attempt,
    epoch,
    input: work.input,
    driver: context.record,
    clock,
    signal: controller.signal,
    lookWanted: () => held.look.signal,
    looking() {
      const begun = registry.now();
      return () => {
        held.lookedAt = begun;
        if (held.look.signal.aborted) held.look = new AbortController();
        held.poke.poke();
      };
    },
    row: load,
    sleep: (ms) => clock.sleep(ms, controller.signal),
    async report(event) {
      if (controller.signal.aborted) return;
      await handle(context, job, { from: 'effect', outboxId: work.id, event });
    },
    once: (step) => once(context, held, task, step, isOurs),
    inspect: (step) => inspect(context, task, step),
    started: async (step) => (await registry.step(job, attempt, step)) !== undefined,
    async mintKey(key) {
      const minted = await registry.mintKey(mine, key);
      held.cached = null;
      return minted;
    },
    async openWays() {
      await context.ways.open(await load(), () => held.poke.poke());
    },
    drain: () => drain(context, held),
    acquireSession: () => registry.acquireSession(mine),
    sessionRow: async () => registry.sessionRow((await load()).session),
    releaseSession: () => registry.releaseSession(mine),
    quarantineSession: (reason) => registry.quarantineSession(mine, reason),
    adoptFinished: (other) => context.adoptFinished(other),
    note: (what, data) =>
      registry.note(job, {
        from: 'effect',
        what,
        verdict: 'refused',
        reason: 'stale_result',
        data,
        driver: context.record.id,
      }),
  };
  return env;
}

async function once(
  context: Context,
  held: Held,
  task: Task,
  step: OnceStep,
  isOurs: () => Promise<boolean>,
): Promise<StepOutcome> {
  const { registry } = context;
  const { job, attempt } = task.work;
  const known = await registry.step(job, attempt, step.name);
  if (known) return known.result ?? 'unproven';
  if (!(await isOurs())) return 'lost';
  const marked = await handle(
    context,
    job,
    { from: 'effect', outboxId: task.work.id, event: { type: 'step.started', step: step.name } },
    { step: { step: step.name, limitAt: registry.now() + step.limitMs } },
  );
  if (marked?.verdict !== 'take') return 'lost';
  // The row may have ended, or the epoch may be gone, since the mark: then nothing is done, and that is written down.
  if (!(await isOurs()) || !((await step.may?.()) ?? true)) {
    await record(context, held, task, step.name, 'withheld');
    return 'withheld';
  }
  await step.act();
  await record(context, held, task, step.name, 'done');
  return 'done';
}

/** A result is only recorded by the epoch that marked the step; a later driver inspects instead of believing. */
async function record(
  context: Context,
  held: Held,
  task: Task,
  step: string,
  result: 'done' | 'withheld',
): Promise<void> {
  for (;;) {
    const row = await context.registry.load(task.work.job);
    if (!row || row.epoch !== task.epoch || row.attempt !== task.work.attempt) return;
    const change = {
      stepResult: { step, result },
      log: { from: 'effect', what: `step ${step}: ${result}`, verdict: 'take', driver: context.record.id },
    } as const;
    if (await context.registry.commit(row, change)) return;
    held.cached = null;
  }
}

async function inspect(context: Context, task: Task, step: string): Promise<StepInspection> {
  const { registry, record: me } = context;
  const known = await registry.step(task.work.job, task.work.attempt, step);
  if (!known) return { state: 'not-started', gone: true, dead: true };
  if (known.result) return { state: known.result, gone: true, dead: true };
  const driver = JSON.parse(known.driver) as DriverRecord;
  // Our own earlier effect has ended before this one began, so it cannot act any more either.
  if (driver.id === me.id || context.isProvenDead(driver)) return { state: 'open', gone: true, dead: true };
  const leaseOver = known.epoch < task.epoch && registry.now() > known.startedAt + LEASE.ttlMs;
  return { state: 'open', gone: leaseOver && registry.now() > known.limitAt, dead: false };
}
