// reconcile: makes what runs equal to what the outbox says. Level-triggered: called after commits, at start-up, at every
// change seen in the registry and by a slow poll behind it.
import { isEnd } from '../../machines/job/vocabulary.ts';
import type { Context, Held, Task } from './context.ts';
import { makeEnv } from './effect-env.ts';
import { handle, isFaulted, loadHeld } from './handle.ts';
import type { EffectResult, Json, OutboxRow, Row } from './ports.ts';
import { isRegistryTrouble, messageOf } from './trouble.ts';

/** An effect that fails while cleaning up is tried again after this pause, so that a broken session is no busy loop. */
const CLEANUP_RETRY_MS = 5_000;
/** After trouble with the registry; the outbox row is still open, so the effect runs again. */
const RETRY_MS = 1_000;

export async function reconcile(context: Context, held: Held): Promise<void> {
  const row = await loadHeld(context, held);
  if (!row) return abortTasks(held);
  const wanted = (await context.registry.openWork(held.job)).filter((work) => mayRun(held, row, work));
  for (const task of held.tasks.values()) {
    if (!wanted.some((work) => work.id === task.work.id) || task.epoch !== held.epoch) task.controller.abort();
  }
  // An effect that is being stopped may still be in the middle of an act: nothing else touches the session beside it.
  if ([...held.tasks.values()].some((task) => task.controller.signal.aborted)) return;
  if (held.stop.signal.aborted) return;
  for (const work of wanted) if (!held.tasks.has(work.id)) start(context, held, work);
}

export function abortTasks(held: Held): void {
  for (const task of held.tasks.values()) task.controller.abort();
}

function mayRun(held: Held, row: Row, work: OutboxRow): boolean {
  if (work.kind === 'cleanup') return true;
  if (isFaulted(row)) return false;
  return !held.concludes || row.phase === 'finalizing' || isEnd(row.phase);
}

function start(context: Context, held: Held, work: OutboxRow): void {
  const controller = new AbortController();
  const task: Task = { work, epoch: held.epoch, controller, done: Promise.resolve() };
  held.tasks.set(work.id, task);
  task.done = run(context, held, task)
    .catch(async (error: unknown) => {
      context.warn(`${work.src} of job ${held.job}: ${messageOf(error)}; trying again`);
      await context.clock.sleep(RETRY_MS, controller.signal);
    })
    .finally(() => {
      held.tasks.delete(work.id);
      held.poke.poke();
    });
}

async function run(context: Context, held: Held, task: Task): Promise<void> {
  const { work } = task;
  const env = makeEnv(context, held, task);
  const body = context.effects[work.src];
  if (!body) throw new Error(`this build has no effect ${work.src}`);
  if (work.kind === 'cleanup') return cleanUp(context, held, task, () => body(env));
  let event: EffectResult;
  try {
    event = { type: `xstate.done.actor.${work.invokeId}`, output: await body(env) };
  } catch (error) {
    if (isRegistryTrouble(error)) throw error;
    event = { type: `xstate.error.actor.${work.invokeId}`, error: { message: messageOf(error) } };
  }
  if (!task.controller.signal.aborted) {
    await handle(context, held.job, { from: 'effect', outboxId: work.id, event });
  } else if ('error' in event || event.output !== undefined) {
    // Too late to decide anything, but it may explain something.
    await env.note(`late result of ${work.src}`, JSON.parse(JSON.stringify(event)) as Json);
  }
}

/** Again and again until everything is undone, although the row itself is finished. */
async function cleanUp(context: Context, held: Held, task: Task, body: () => Promise<unknown>): Promise<void> {
  let undone = false;
  try {
    undone = (await body()) === true;
  } catch (error) {
    context.warn(`cleaning up job ${held.job}: ${messageOf(error)}; trying again`);
    await context.clock.sleep(CLEANUP_RETRY_MS, task.controller.signal);
  }
  if (!undone) return;
  for (;;) {
    const row = await loadHeld(context, held);
    if (!row || row.attempt !== task.work.attempt || row.cleanup === 'done') return;
    const change = {
      cleanupDone: true,
      cause: { outboxId: task.work.id },
      log: { from: 'kernel', what: 'cleanup done', verdict: 'take', driver: context.record.id },
    } as const;
    held.cached = null;
    if (await context.registry.commit(row, change)) return;
  }
}
