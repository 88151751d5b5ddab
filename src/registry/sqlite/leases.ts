// The lease of a row: who may commit, by epoch; and the clocks that count silence, which stand still while nobody watches.
import type { Clock, DriverRecord, LeaseRow, Registry } from '../../kernel/ports.ts';
import { type Connection, type Sql, Undo } from './connection.ts';
import { standingOf, writeLog } from './log.ts';
import * as plans from './plans.ts';

type Leases = Pick<Registry, 'claim' | 'renew' | 'release' | 'lease'>;
type RawLease = Omit<LeaseRow, 'driver'> & { driver: string | null };

export function createLeases(connection: Connection, clock: Clock): Leases {
  return {
    claim: (job, driver, ttlMs, gapMs, isProvenDead) =>
      connection.write((sql) => claim(sql, job, driver, { now: clock.now(), ttlMs, gapMs }, isProvenDead)),
    async renew(driver, leases, ttlMs, gapMs) {
      if (leases.length === 0) return [];
      return connection.write((sql) => renew(sql, driver, leases, { now: clock.now(), ttlMs, gapMs }));
    },
    release: (job, epoch) =>
      connection.write((sql) => {
        // Somebody else's by now: nothing to write, nobody to wake.
        if (sql.run(plans.RELEASE_LEASE, { job, epoch, now: clock.now() }) === 0) throw new Undo(undefined);
      }),
    lease: (job) => connection.read((sql) => loadLease(sql, job)),
  };
}

interface Terms {
  now: number;
  ttlMs: number;
  gapMs: number;
}

export function claim(
  sql: Sql,
  job: string,
  driver: DriverRecord,
  terms: Terms,
  isProvenDead: (holder: DriverRecord) => boolean,
): number | null {
  const { now, ttlMs } = terms;
  const lease = loadLease(sql, job);
  const alive = lease?.driver && lease.expiresAt > now ? lease.driver : null;
  if (lease && alive?.id === driver.id) {
    extend(sql, job, lease.renewedAt, terms);
    return lease.epoch;
  }
  if (alive && !isProvenDead(alive)) throw new Undo(null);
  const raised = sql.get<{ epoch: number }>(plans.RAISE_EPOCH, { job });
  if (!raised) throw new Undo(null);
  sql.run(plans.TAKE_LEASE, {
    job,
    driverId: driver.id,
    driver: JSON.stringify(driver),
    epoch: raised.epoch,
    expiresAt: now + ttlMs,
    now,
  });
  const entry = { from: 'kernel', what: 'claimed', verdict: 'take', driver: driver.id } as const;
  writeLog(sql, job, standingOf(sql, job), entry, now);
  if (lease) shiftSilence(sql, job, lease.renewedAt, terms);
  return raised.epoch;
}

function renew(sql: Sql, driverId: string, leases: { job: string; epoch: number }[], terms: Terms): string[] {
  const lost: string[] = [];
  for (const { job, epoch } of leases) {
    const own = sql.get<{ renewedAt: number }>(plans.OWN_LEASE, { job, driverId, epoch });
    if (own) extend(sql, job, own.renewedAt, terms);
    else lost.push(job);
  }
  if (lost.length === leases.length) throw new Undo(lost);
  return lost;
}

function extend(sql: Sql, job: string, renewedAt: number, terms: Terms): void {
  sql.run(plans.RENEW_LEASE, { job, expiresAt: terms.now + terms.ttlMs, now: terms.now });
  shiftSilence(sql, job, renewedAt, terms);
}

/** Section 4, "Time": a gap in which nobody watched proves no silence. The deadline was promised to people and stays. */
function shiftSilence(sql: Sql, job: string, renewedAt: number, { now, gapMs }: Terms): void {
  const gap = now - renewedAt;
  if (gap <= gapMs || sql.run(plans.SHIFT_SILENCE, { job, gap }) === 0) return;
  const entry = { from: 'kernel', what: 'clocks_shifted', verdict: 'take', data: { gapMs: gap } } as const;
  writeLog(sql, job, standingOf(sql, job), entry, now);
}

function loadLease(sql: Sql, job: string): LeaseRow | undefined {
  const raw = sql.get<RawLease>(plans.LOAD_LEASE, { job });
  return raw && { ...raw, driver: raw.driver === null ? null : (JSON.parse(raw.driver) as DriverRecord) };
}
