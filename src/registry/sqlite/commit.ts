// One decision in one transaction: compare-and-set, then log, outbox, timers, step marks, answers.
import { isEnd } from '../../../machines/job/vocabulary.ts';
import type { Change, Clock, Read, Registry, Row } from '../../kernel/ports.ts';
import { applyEffects, dropWorkAndTimers, settle } from './apply.ts';
import { type Connection, type Params, type Sql, Undo } from './connection.ts';
import { type RawStanding, standingOf, writeLog } from './log.ts';
import * as plans from './plans.ts';

type Commits = Pick<Registry, 'commit' | 'note' | 'mintKey'>;

export function createCommits(connection: Connection, clock: Clock): Commits {
  return {
    commit: (read, change) =>
      connection.write((sql) => commit(sql, read, change, clock.now()), { durable: change.durable ?? false }),
    note: (job, entry) => connection.write((sql) => writeLog(sql, job, standingOf(sql, job), entry, clock.now())),
    mintKey: ({ id, epoch, attempt }, key) =>
      // Durable: the key goes out to the agent, and what it signs must be judged by the same one after a power cut.
      connection.write((sql) => sql.get<{ key: string }>(plans.MINT_KEY, { id, epoch, attempt, key })?.key ?? null, {
        durable: true,
      }),
  };
}

function commit(sql: Sql, read: Read, change: Change, now: number): boolean {
  const { id: job } = read;
  const standing = moves(change) ? move(sql, read, change, now) : sql.get<RawStanding>(plans.UNMOVED_JOB, asRead(read));
  if (!standing) throw new Undo(false);
  const { attempt, version } = standing;

  if (change.step) {
    const { step, driver, limitAt } = change.step;
    const started = sql.run(plans.START_STEP, { job, attempt, step, driver, epoch: read.epoch, limitAt, now });
    if (started === 0) throw new Undo(false);
  }
  if (change.stepResult) sql.run(plans.END_STEP, { job, attempt, ...change.stepResult });
  settle(sql, job, change.cause);
  if (change.beginAttempt !== undefined || change.migrateTo !== undefined) dropWorkAndTimers(sql, job);
  applyEffects(sql, { job, attempt, version, now }, change.effects ?? []);
  writeLog(sql, job, standing, change.log, now);
  return true;
}

/** Everything else is a refusal, or the result of a step: judged by the version, but it does not raise it. */
const moves = (change: Change): boolean =>
  change.next !== undefined ||
  change.beginAttempt !== undefined ||
  change.migrateTo !== undefined ||
  change.step !== undefined ||
  change.cleanupDone === true ||
  change.faults !== undefined;

const asRead = ({ id, version, epoch }: Read): Params => ({ id, version, epoch });

function move(sql: Sql, read: Read, change: Change, now: number): RawStanding | undefined {
  const { next, beginAttempt, migrateTo, faults } = change;
  const was = sql.get<RawStanding & { cleanup: Row['cleanup'] }>(plans.MOVE_JOB, {
    ...asRead(read),
    now,
    machine: migrateTo ?? null,
    snapshot: next ? JSON.stringify(next.snapshot) : null,
    state: next?.state ?? null,
    hasNext: next ? 1 : 0,
    outcome: next?.outcome ? JSON.stringify(next.outcome) : null,
    attempt: beginAttempt ?? null,
    faults: faults?.count ?? null,
    faultReason: faults?.reason ?? null,
  });
  if (!was) return undefined;
  const { cleanup: cleanupWas, ...standing } = was;
  const phase = next?.phase ?? standing.phase;
  const cleanup = cleanupAfter(change) ?? cleanupWas;
  if (phase !== standing.phase || cleanup !== cleanupWas) sql.run(plans.PLACE_JOB, { id: read.id, phase, cleanup });
  return { ...standing, phase };
}

/** Null: as it was. */
function cleanupAfter({ next, effects = [], cleanupDone, beginAttempt }: Change): Row['cleanup'] | null {
  if (cleanupDone) return 'done';
  if (next && isEnd(next.phase) && effects.some(({ kind }) => kind === 'cleanup')) return 'open';
  return beginAttempt === undefined ? null : 'none';
}
