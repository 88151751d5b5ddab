// What docs/design.md section 1 promises, asked of a finished run.
import { exitCodeOf } from '../../machines/job/exit.ts';
import { kindOf, kindOfTimer, TABLE } from '../../machines/job/table.ts';
import { isAgentEvent, isEnd, type Outcome } from '../../machines/job/vocabulary.ts';
import type { LogRow } from '../../src/kernel/ports.ts';
import { DISK_FULL } from './gate.ts';
import type { Result } from './simulate.ts';
import { addressOf } from './world.ts';

const UNDELIVERED = 5;
/** No run has so much to tell: something goes round in circles. */
const FLOOD = 1_500;
/** What a driver may say in trouble that is not its own. */
const EXPECTED = new RegExp(`another driver has taken over|${DISK_FULL}`);
const PROVISIONAL = [
  'deadline_timeout',
  'idle_timeout',
  'permission_timeout',
  'bus_away',
  'delivery_unknown',
  'agent_exited',
  'session_busy',
  'session_blocked',
  'preflight_failed',
  'no_channel',
  'not_delivered',
];

export function brokenPromises(result: Result): string[] {
  return [
    ...result.world.breaches,
    ...result.drift.map((what) => `rows and snapshot disagree: ${what}`),
    ...result.warnings.filter((text) => !EXPECTED.test(text)).map((text) => `warned: ${text}`),
    ...(result.log.length > FLOOD ? [`${result.log.length} lines of log`] : []),
    ...hangs(result),
    ...endsTwice(result.log),
    ...tellsTheTruth(result),
    ...losesNothing(result),
    ...twoDrivers(result),
    ...disagreements(result.log),
    ...leftovers(result),
  ];
}

function hangs({ ended, rows, sessions }: Result): string[] {
  if (ended) return [];
  const where = rows.map(({ id, state, cleanup }) => `${id} ${state}, cleanup ${cleanup}`);
  return [`hangs: ${where.join('; ')} ${sessions.map(({ quarantine }) => quarantine ?? '').join()}`];
}

function tellsTheTruth({ log, world, desk }: Result): string[] {
  const broken: string[] = [];
  for (const [address, end] of endsOf(log)) {
    const sent = desk.sent.filter(({ envelope }) => addressOf(envelope) === address);
    const completed = sent.filter(({ envelope }) => envelope.event.type === 'completed');
    if (exitCodeOf(end) === UNDELIVERED && world.received.has(`prompt ${address}`))
      broken.push(`${address} ended ${end.reason} (nothing was sent), yet the agent received its prompt`);
    if (end.status === 'completed' && completed.length === 0)
      broken.push(`${address} completed without a signed report`);
    if (end.reason === 'agent_failed' && !sent.some(({ envelope }) => envelope.event.type === 'failed'))
      broken.push(`${address} failed without a signed word of its agent`);
    const early = completed.find(({ phase }) => phase === 'pending' || phase === 'injected');
    if (early && PROVISIONAL.includes(end.reason))
      broken.push(`${address} sent completed while ${early.phase}, yet it ended ${end.reason}`);
    const isValid = desk.reportOf(address) === 'valid';
    if (takes(log, address, 'completed') && end.status !== 'completed' && (isValid || end.reason !== 'report_invalid'))
      broken.push(`${address} an accepted completed was lost: ${end.reason}`);
  }
  for (const [prompt, times] of world.received) if (times > 1) broken.push(`received ${times} times: ${prompt}`);
  return broken;
}

/** Every envelope is in the log with its answer, or waits in the inbox or a spool. */
function losesNothing({ desk, inbox, log }: Result): string[] {
  const spooled = desk.spooled();
  return desk.sent
    .filter(({ envelope: { id }, phase }) => {
      const row = inbox.get(id);
      const logged = log.filter(({ data }) => (data as { id?: unknown } | null)?.id === id);
      // Logged once, with the verdict that the sender is told.
      const isDecided = row?.answer != null && logged.length === 1 && logged[0]?.verdict === row.answer.verdict;
      // What nobody has confirmed is still in the agent's hands.
      const waits = row ? row.answer === null && logged.length === 0 : spooled.includes(id) || phase === null;
      return !isDecided && !waits;
    })
    .map(({ envelope }) => `lost or decided twice: envelope ${envelope.id}`);
}

/** One driver for one epoch, and nothing from an older one. */
function twoDrivers({ commits, log }: Result): string[] {
  const broken: string[] = [];
  const drivers = new Map<string, string>();
  for (const { driver, job, epoch, newest, what } of commits) {
    const first = drivers.get(`${job} ${epoch}`) ?? driver;
    drivers.set(`${job} ${epoch}`, first);
    if (first !== driver) broken.push(`${job} was driven by ${first} and ${driver} in epoch ${epoch}`);
    if (epoch !== newest) broken.push(`${driver} committed ${what} in epoch ${epoch} although ${newest} was claimed`);
  }
  const newest = new Map<string, number>();
  const versions = new Map<string, number>();
  for (const { job, epoch, version, seq } of log) {
    if (epoch < (newest.get(job) ?? 0)) broken.push(`log ${seq}: epoch ${epoch} after ${newest.get(job)}`);
    if (version < (versions.get(job) ?? 0)) broken.push(`log ${seq}: version ${version} after ${versions.get(job)}`);
    newest.set(job, epoch);
    versions.set(job, version);
  }
  for (const { driver, job, epoch, verdict } of log) {
    const known = drivers.get(`${job} ${epoch}`);
    if (driver && known && verdict !== 'refused' && known !== driver)
      broken.push(`the log shows ${driver} and ${known} in epoch ${epoch} of ${job}`);
  }
  return broken;
}

/** What the table takes, the machine must not refuse; what an effect brings as its result, neither. */
function disagreements(log: LogRow[]): string[] {
  return log
    .filter(({ reason, verdict }) => verdict === 'refused' && reason === 'not_now')
    .filter(({ from, what, phase }) => {
      if (from === 'effect') return /^(done|error) /.test(what);
      const kind = from === 'clock' ? kindOfTimer(what) : isAskable(what) ? kindOf(what) : null;
      return kind === null || TABLE[kind][phase] === 'take';
    })
    .map(({ seq, from, what, phase }) => `log ${seq}: admit took ${from} ${what} while ${phase}, the machine did not`);
}

const isAskable = (what: string): what is Parameters<typeof kindOf>[0] =>
  isAgentEvent(what) || ['cancelled', 'deadline_timeout', 'redispatch'].includes(what);

function leftovers({ ended, sessions, world, desk }: Result): string[] {
  if (!ended) return [];
  return [
    ...sessions.map(({ session, job }) => `${session} is still held by ${job}`),
    ...world.leftovers(),
    ...desk.keys().map((address) => `the key of ${address} still lies in its directory`),
  ];
}

/** The end of every attempt, by the log: an earlier attempt's snapshot is gone. */
export function endsOf(log: LogRow[]): Map<string, Outcome> {
  const ends = new Map<string, Outcome>();
  for (const line of log)
    if (isEnd(line.phase) && line.verdict === 'take' && line.outcome) ends.set(addressOf(line), line.outcome);
  return ends;
}

function endsTwice(log: LogRow[]): string[] {
  const first = new Map<string, string>();
  return log.flatMap((line) => {
    const end = isEnd(line.phase) ? `${line.phase} ${line.outcome?.reason}` : null;
    const before = first.get(addressOf(line));
    if (end && !before) first.set(addressOf(line), end);
    return before && before !== end ? [`${addressOf(line)} ended ${before}, then ${end ?? line.phase}`] : [];
  });
}

const takes = (log: LogRow[], address: string, what: string): boolean =>
  log.some(
    (line) => addressOf(line) === address && line.from === 'agent' && line.what === what && line.verdict === 'take',
  );
