// Requests from outside, kept until the row's driver has decided them; their ids decide about repetitions.
import { isEnd } from '../../../machines/job/vocabulary.ts';
import type { Answer, Clock, InboxRow, OutsideRequest, Registry, Way } from '../../kernel/ports.ts';
import { type Connection, type Sql, Undo } from './connection.ts';
import { standingOf, writeLog } from './log.ts';
import * as plans from './plans.ts';

type Inbox = Pick<Registry, 'deliver' | 'inboxRow' | 'undecided' | 'jobsWithUndecided'>;
type RawInboxRow = Omit<InboxRow, 'request' | 'answer'> & { request: string; answer: string | null };

export function createInbox(connection: Connection, clock: Clock): Inbox {
  return {
    deliver: (request, job, way) =>
      connection.write((sql) => deliver(sql, request, job, way, clock.now()), { durable: isLastWord(request) }),
    inboxRow: (id) => connection.read((sql) => load(sql, id)),
    undecided: (job) => connection.read((sql) => sql.all<RawInboxRow>(plans.LIST_UNDECIDED, { job }).map(toInboxRow)),
    jobsWithUndecided: () =>
      connection.read((sql) => sql.all<{ job: string }>(plans.JOBS_WITH_UNDECIDED).map(({ job }) => job)),
  };
}

/** The sender goes away after these and never says them again, so not even a power cut may lose them. */
const isLastWord = (request: OutsideRequest): boolean =>
  request.from === 'person' || isEnd(request.envelope.event.type);

function deliver(sql: Sql, request: OutsideRequest, job: string, way: Way, now: number): InboxRow {
  const { id } = request;
  const inserted = sql.run(plans.INSERT_REQUEST, { id, job, request: JSON.stringify(request), way, now });
  if (inserted === 0) throw new Undo(load(sql, id));
  if (standingOf(sql, job).version === 0) refuseUnknown(sql, request, job, way, now);
  return load(sql, id) as InboxRow;
}

/** No driver will ever look at it. */
function refuseUnknown(sql: Sql, request: OutsideRequest, job: string, way: Way, now: number): void {
  const answer: Answer = { verdict: 'refused', version: 0, reason: 'unknown_job', phase: 'pending' };
  sql.run(plans.ANSWER, { job, id: request.id, answer: JSON.stringify(answer) });
  const what = request.from === 'agent' ? request.envelope.event.type : request.event.type;
  const data = { id: request.id, way };
  const entry = { from: request.from, what, verdict: answer.verdict, reason: answer.reason, data };
  writeLog(sql, job, standingOf(sql, job), entry, now);
}

function load(sql: Sql, id: string): InboxRow | undefined {
  const raw = sql.get<RawInboxRow>(plans.LOAD_REQUEST, { id });
  return raw && toInboxRow(raw);
}

/**
 * What stands in the table may have been put there by anybody of the same user. Only what can come from outside comes out of here
 * (an effect's result must not, it would be believed unsigned), and what cannot be read becomes a request that is refused
 * `malformed`, so that it blocks nothing behind it.
 */
function readRequest({ id, request }: RawInboxRow): OutsideRequest {
  try {
    const read = JSON.parse(request) as Partial<OutsideRequest> & { event?: unknown; envelope?: unknown };
    if (read.from === 'agent' && hasEvent(read.envelope)) return { ...read, id } as OutsideRequest;
    if (read.from === 'person' && hasEvent(read)) return { ...read, id } as OutsideRequest;
  } catch {
    // Not even JSON.
  }
  return { from: 'person', id, event: { type: 'unreadable' }, by: 'nobody' };
}

const hasEvent = (value: unknown): boolean =>
  typeof (value as { event?: { type?: unknown } } | null)?.event?.type === 'string';

const toInboxRow = (raw: RawInboxRow): InboxRow => ({
  ...raw,
  request: readRequest(raw),
  answer: raw.answer === null ? null : (JSON.parse(raw.answer) as Answer),
});
