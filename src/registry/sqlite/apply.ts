// What a committed decision does to outbox, timers and inbox, inside its transaction.
import type { Cause, EffectWrite } from '../../kernel/ports.ts';
import type { Sql } from './connection.ts';
import * as plans from './plans.ts';

/** The request that caused the decision is done with. What is not there any more is left: the row's version, which every arming
 *  and closing raises, guards the decision; a timer armed anew since then stays. */
export function settle(sql: Sql, job: string, cause: Cause | undefined): void {
  const { outboxId, timer, inbox } = cause ?? {};
  if (outboxId !== undefined) sql.run(plans.CLOSE_WORK, { job, outboxId });
  if (timer) sql.run(plans.DISARM_VERSION, { job, id: timer.id, armedVersion: timer.armedVersion });
  if (inbox) sql.run(plans.ANSWER, { job, id: inbox.id, answer: JSON.stringify(inbox.answer) });
}

/** A new attempt or a migrated machine: nothing of before may fire or report. */
export function dropWorkAndTimers(sql: Sql, job: string): void {
  sql.run(plans.CLOSE_ALL_WORK, { job });
  sql.run(plans.DISARM_ALL, { job });
}

/** In the order given. `version` is the row's after the commit; `now` is registry time, ms. */
export function applyEffects(
  sql: Sql,
  row: { job: string; attempt: number; version: number; now: number },
  effects: readonly EffectWrite[],
): void {
  const { job, attempt, version, now } = row;
  for (const effect of effects) {
    switch (effect.kind) {
      case 'invoke': {
        const { kind, invokeId, src, input } = effect;
        sql.run(plans.OPEN_WORK, { job, attempt, kind, invokeId, src, input: JSON.stringify(input) });
        break;
      }
      case 'cleanup':
        sql.run(plans.OPEN_WORK, {
          job,
          attempt,
          kind: 'cleanup',
          invokeId: 'cleanup',
          src: 'cleanup',
          input: JSON.stringify(effect.input),
        });
        break;
      case 'stop':
        sql.run(plans.STOP_INVOKE, { job, invokeId: effect.invokeId });
        break;
      case 'arm': {
        const { id, delay, event, silence } = effect.timer;
        const fireAt = now + effect.afterMs;
        sql.run(plans.ARM, { job, id, delay, version, fireAt, event: JSON.stringify(event), silence: silence ? 1 : 0 });
        break;
      }
      case 'disarm':
        sql.run(plans.DISARM, { job, id: effect.timerId });
        break;
    }
  }
}
