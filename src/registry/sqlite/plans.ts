// Every SQL text of the SQLite registry, and nothing else. Named parameters throughout (connection.ts gives the drivers positions).
// All statements run inside a transaction of connection.ts, so several of them may rely on each other.

/** What `PRAGMA user_version` says of a registry that this build can use. */
export const SCHEMA_VERSION = 1;

/** Key: the version the step leads to. Never change one that was released: old registries have run it. */
export const MIGRATIONS: Readonly<Record<number, string>> = Object.freeze({
  1: `
-- n: the order of making. snapshot and spec come last: a reader of the small columns need not load their pages.
CREATE TABLE job (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  machine TEXT NOT NULL,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  -- Log sequence at which the attempt began: its place in the queue for its session, without any clock.
  begun INTEGER NOT NULL,
  session TEXT NOT NULL,
  phase TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  key TEXT,
  cleanup TEXT NOT NULL,
  faults INTEGER NOT NULL,
  fault_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  since INTEGER NOT NULL,
  open INTEGER NOT NULL GENERATED ALWAYS AS (phase NOT IN ('completed', 'failed', 'cancelled') OR cleanup = 'open') VIRTUAL,
  spec TEXT NOT NULL,
  snapshot TEXT NOT NULL
) STRICT;
CREATE INDEX job_open ON job (open, session) WHERE open = 1;
CREATE INDEX job_session ON job (session);

-- Log and outbox rows are never deleted, so no number is given twice.
CREATE TABLE log (
  seq INTEGER PRIMARY KEY,
  job TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  at INTEGER NOT NULL,
  source TEXT NOT NULL,
  what TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT,
  phase TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  data TEXT NOT NULL,
  driver TEXT
) STRICT;
CREATE INDEX log_job ON log (job, seq);

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  job TEXT NOT NULL REFERENCES job (id),
  attempt INTEGER NOT NULL,
  kind TEXT NOT NULL,
  invoke_id TEXT NOT NULL,
  src TEXT NOT NULL,
  input TEXT NOT NULL,
  open INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_open ON outbox (job) WHERE open = 1;

CREATE TABLE timer (
  job TEXT NOT NULL REFERENCES job (id),
  id TEXT NOT NULL,
  delay TEXT NOT NULL,
  armed_version INTEGER NOT NULL,
  fire_at INTEGER NOT NULL,
  event TEXT NOT NULL,
  silence INTEGER NOT NULL,
  PRIMARY KEY (job, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
  job TEXT NOT NULL REFERENCES job (id),
  attempt INTEGER NOT NULL,
  step TEXT NOT NULL,
  driver TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  limit_at INTEGER NOT NULL,
  result TEXT,
  n INTEGER PRIMARY KEY,
  UNIQUE (job, attempt, step)
) STRICT;

CREATE TABLE lease (
  job TEXT PRIMARY KEY REFERENCES job (id),
  -- Null after a release; driver is the whole record, driver_id is its id.
  driver_id TEXT,
  driver TEXT,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  session TEXT PRIMARY KEY,
  job TEXT NOT NULL REFERENCES job (id),
  attempt INTEGER NOT NULL,
  quarantine TEXT,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- No REFERENCES: a request for a job that does not exist is kept too, with its refusal.
CREATE TABLE inbox (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  job TEXT NOT NULL,
  request TEXT NOT NULL,
  way TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  answer TEXT
) STRICT;
CREATE INDEX inbox_undecided ON inbox (job) WHERE answer IS NULL;
`,
});

// --- the connection ------------------------------------------------------------------------------------------------------------

export const USE_WAL = 'PRAGMA journal_mode = WAL';
export const READ_SCHEMA_VERSION = 'PRAGMA user_version';
export const writeSchemaVersion = (version: number): string => `PRAGMA user_version = ${version}`;
/** NORMAL keeps the store whole in a power cut but may lose the last commits; FULL loses none, for one fsync a commit. */
export const syncLevel = (level: 'NORMAL' | 'FULL'): string => `PRAGMA synchronous = ${level}`;
/** Changes when another connection has committed. */
export const DATA_VERSION = 'PRAGMA data_version';
/** Never a deferred BEGIN: turning a reader into a writer fails with BUSY_SNAPSHOT, which no waiting cures. */
export const BEGIN = 'BEGIN IMMEDIATE';
/** For a lock that no other process may even read through (lock.ts). */
export const BEGIN_EXCLUSIVE = 'BEGIN EXCLUSIVE';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

// --- rows ----------------------------------------------------------------------------------------------------------------------

export const INSERT_JOB = `
INSERT INTO job (id, machine, version, epoch, attempt, begun, session, phase, state, outcome, key, cleanup, faults,
  created_at, updated_at, since, spec, snapshot)
VALUES (:id, :machine, 1, 0, 1, (SELECT coalesce(max(seq), 0) + 1 FROM log), :session, :phase, :state, :outcome, NULL, :cleanup, 0,
  :now, :now, :now, :spec, :snapshot)
ON CONFLICT (id) DO NOTHING`;

const ROW = `id, machine, version, epoch, attempt, session, spec, snapshot, phase, state, outcome, key, cleanup, faults,
  fault_reason AS faultReason, created_at AS createdAt, updated_at AS updatedAt, since`;

export const LOAD_JOB = `SELECT ${ROW} FROM job WHERE id = :id`;

export const PEEK_JOB = `
SELECT id, machine, attempt, version, phase, state, outcome, EXISTS (
  SELECT 1 FROM lease WHERE lease.job = job.id AND expires_at > :now) AS driven
FROM job WHERE id = :id`;

export const IDS_BETWEEN = 'SELECT id FROM job WHERE id >= :from AND id < :to ORDER BY n LIMIT :limit';
export const NEWEST_ID = 'SELECT id FROM job ORDER BY n DESC LIMIT 1';
export const OPEN_ROWS = `SELECT id, machine, phase, driver, coalesce(expires_at, 0) AS expiresAt FROM job
LEFT JOIN lease ON lease.job = id WHERE open = 1 ORDER BY n`;

/** The newest `limit` of them (-1: all), oldest first. */
export function listJobs(filter: { open: boolean; session: boolean }): string {
  const terms = [filter.open && 'open = 1', filter.session && 'session = :session'].filter(Boolean);
  const where = terms.length > 0 ? `WHERE ${terms.join(' AND ')}` : '';
  return `SELECT ${ROW} FROM job WHERE n IN (SELECT n FROM job ${where} ORDER BY n DESC LIMIT :limit) ORDER BY n`;
}

// --- commit --------------------------------------------------------------------------------------------------------------------

const AFTER = 'attempt, version, epoch, phase, state, outcome';
const AS_READ = 'id = :id AND version = :version AND epoch = :epoch';

/** The guard of a change that leaves the row as it is: a refusal, the result of a step. */
export const UNMOVED_JOB = `SELECT ${AFTER} FROM job WHERE ${AS_READ}`;

/** The compare-and-set. A null parameter leaves its column alone, except where a flag says otherwise. Phase and cleanup come back
 *  as they were: they are indexed, and most commits do not change them, so PLACE_JOB writes them only where they do. */
export const MOVE_JOB = `
UPDATE job SET
  version = version + 1,
  updated_at = :now,
  machine = coalesce(:machine, machine),
  snapshot = coalesce(:snapshot, snapshot),
  since = CASE WHEN :state IS NULL OR :state = state THEN since ELSE :now END,
  state = coalesce(:state, state),
  outcome = CASE WHEN :hasNext THEN :outcome ELSE outcome END,
  key = CASE WHEN :attempt IS NULL THEN key END,
  begun = CASE WHEN :attempt IS NULL THEN begun ELSE (SELECT coalesce(max(seq), 0) + 1 FROM log) END,
  attempt = coalesce(:attempt, attempt),
  fault_reason = CASE WHEN :faults IS NULL THEN fault_reason ELSE :faultReason END,
  faults = coalesce(:faults, faults)
WHERE ${AS_READ}
RETURNING ${AFTER}, cleanup`;
export const PLACE_JOB = 'UPDATE job SET phase = :phase, cleanup = :cleanup WHERE id = :id';

export const STANDING = `SELECT ${AFTER} FROM job WHERE id = :id`;

export const WRITE_LOG = `
INSERT INTO log (job, attempt, version, epoch, at, source, what, verdict, reason, phase, state, outcome, data, driver)
VALUES (:job, :attempt, :version, :epoch, :now, :source, :what, :verdict, :reason, :phase, :state, :outcome, :data, :driver)`;

export const MINT_KEY = `
UPDATE job SET key = coalesce(key, :key) WHERE id = :id AND epoch = :epoch AND attempt = :attempt RETURNING key`;

export const OPEN_WORK = `
INSERT INTO outbox (job, attempt, kind, invoke_id, src, input, open)
VALUES (:job, :attempt, :kind, :invokeId, :src, :input, 1)`;
export const CLOSE_WORK = 'UPDATE outbox SET open = 0 WHERE id = :outboxId AND job = :job';
export const STOP_INVOKE = `
UPDATE outbox SET open = 0 WHERE job = :job AND open = 1 AND kind = 'invoke' AND invoke_id = :invokeId`;
export const CLOSE_ALL_WORK = 'UPDATE outbox SET open = 0 WHERE job = :job AND open = 1';
export const LIST_OPEN_WORK = `
SELECT id, job, attempt, kind, invoke_id AS invokeId, src, input, open FROM outbox WHERE job = :job AND open = 1 ORDER BY id`;

export const ARM = `
INSERT OR REPLACE INTO timer (job, id, delay, armed_version, fire_at, event, silence)
VALUES (:job, :id, :delay, :version, :fireAt, :event, :silence)`;
export const DISARM = 'DELETE FROM timer WHERE job = :job AND id = :id';
export const DISARM_VERSION = 'DELETE FROM timer WHERE job = :job AND id = :id AND armed_version = :armedVersion';
export const DISARM_ALL = 'DELETE FROM timer WHERE job = :job';
export const LIST_TIMERS = `
SELECT job, id, delay, armed_version AS armedVersion, fire_at AS fireAt, event, silence FROM timer
WHERE job = :job ORDER BY fire_at, id`;

/** No row: the step was started before. */
export const START_STEP = `
INSERT INTO step (job, attempt, step, driver, epoch, started_at, limit_at)
VALUES (:job, :attempt, :step, :driver, :epoch, :now, :limitAt)
ON CONFLICT (job, attempt, step) DO NOTHING`;
/** The first result stands. */
export const END_STEP = `
UPDATE step SET result = :result WHERE job = :job AND attempt = :attempt AND step = :step AND result IS NULL`;
const STEP = 'job, attempt, step, driver, epoch, started_at AS startedAt, limit_at AS limitAt, result';
export const LOAD_STEP = `SELECT ${STEP} FROM step WHERE job = :job AND attempt = :attempt AND step = :step`;
export const LIST_STEPS = `SELECT ${STEP} FROM step WHERE job = :job AND attempt = :attempt ORDER BY n`;

export const ANSWER = 'UPDATE inbox SET answer = :answer WHERE id = :id AND job = :job AND answer IS NULL';

// --- leases --------------------------------------------------------------------------------------------------------------------

export const LOAD_LEASE = `
SELECT job, driver, epoch, expires_at AS expiresAt, renewed_at AS renewedAt FROM lease WHERE job = :job`;
export const RAISE_EPOCH = 'UPDATE job SET epoch = epoch + 1 WHERE id = :job RETURNING epoch';
export const TAKE_LEASE = `
INSERT INTO lease (job, driver_id, driver, epoch, expires_at, renewed_at)
VALUES (:job, :driverId, :driver, :epoch, :expiresAt, :now)
ON CONFLICT (job) DO UPDATE SET driver_id = excluded.driver_id, driver = excluded.driver, epoch = excluded.epoch,
  expires_at = excluded.expires_at, renewed_at = excluded.renewed_at`;
/** The lease as it stands for this driver and epoch, whether over or not: nobody else has claimed it since. */
export const OWN_LEASE = `
SELECT renewed_at AS renewedAt FROM lease WHERE job = :job AND driver_id = :driverId AND epoch = :epoch`;
export const RENEW_LEASE = 'UPDATE lease SET expires_at = :expiresAt, renewed_at = :now WHERE job = :job';
/** A lease that nobody holds is over: `expires_at > now` alone says that a row is driven. */
export const RELEASE_LEASE = `
UPDATE lease SET driver_id = NULL, driver = NULL, expires_at = min(expires_at, :now) WHERE job = :job AND epoch = :epoch AND driver_id IS NOT NULL`;
export const SHIFT_SILENCE = 'UPDATE timer SET fire_at = fire_at + :gap WHERE job = :job AND silence = 1';

// --- sessions ------------------------------------------------------------------------------------------------------------------

const STILL_HOLDS = `job = :id AND attempt = :attempt
  AND EXISTS (SELECT 1 FROM job WHERE id = :id AND attempt = :attempt AND epoch = :epoch)`;
const SESSION = 'session, job, attempt, quarantine, since';

export const SESSION_OF = 'SELECT session FROM job WHERE id = :id AND epoch = :epoch AND attempt = :attempt';
/** Who is next: only rows that still wait and that somebody drives. A dead driver's row must not block the others. */
export const HEAD_OF_QUEUE = `
SELECT job.id FROM job JOIN lease ON lease.job = job.id
WHERE job.session = :session AND job.open = 1 AND job.phase = 'pending' AND lease.expires_at > :now
ORDER BY job.begun LIMIT 1`;
export const TAKE_SESSION = `
INSERT INTO session (session, job, attempt, since) VALUES (:session, :id, :attempt, :now)`;
export const LOAD_SESSION = `SELECT ${SESSION} FROM session WHERE session = :session`;
export const LIST_SESSIONS = `SELECT ${SESSION} FROM session ORDER BY session`;
export const RELEASE_SESSION = `DELETE FROM session WHERE ${STILL_HOLDS}`;
export const QUARANTINE_SESSION = `
UPDATE session SET since = CASE WHEN quarantine IS NULL THEN :now ELSE since END, quarantine = :reason WHERE ${STILL_HOLDS}`;

// --- inbox, log ----------------------------------------------------------------------------------------------------------------

export const INSERT_REQUEST = `
INSERT INTO inbox (id, job, request, way, received_at) VALUES (:id, :job, :request, :way, :now) ON CONFLICT (id) DO NOTHING`;
const REQUEST = 'id, job, request, way, received_at AS receivedAt, answer';
export const LOAD_REQUEST = `SELECT ${REQUEST} FROM inbox WHERE id = :id`;
export const LIST_UNDECIDED = `SELECT ${REQUEST} FROM inbox WHERE job = :job AND answer IS NULL ORDER BY n`;
export const JOBS_WITH_UNDECIDED = 'SELECT DISTINCT job FROM inbox WHERE answer IS NULL ORDER BY job';

/** 0: the log is empty. */
export const NEWEST_SEQ = 'SELECT coalesce(max(seq), 0) AS seq FROM log';
export const CHANGED_JOBS = 'SELECT DISTINCT job FROM log WHERE seq > :after AND job IN (SELECT id FROM job)';

/** The first :limit entries (-1: all) after :after. */
export const readLog = (ofOneJob: boolean): string => `
SELECT seq, job, attempt, version, epoch, at, source AS "from", what, verdict, reason, phase, state, outcome, data, driver FROM log
WHERE seq > :after ${ofOneJob ? 'AND job = :job' : ''} ORDER BY seq LIMIT :limit`;
