// Several processes on one SQLite registry.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createChanges } from '../../src/registry/sqlite/changes.ts';
import { connect } from '../../src/registry/sqlite/connection.ts';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { isBusy } from '../../src/registry/sqlite/failures.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { type Child, endChildren, startChild } from './child.ts';
import { makeSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { claim, entry, insert, load, move, PATIENTLY } from './support.ts';

let store: SqliteStore;
const children: Child[] = [];
const start = (script: string, ...args: string[]): Child => {
  const child = startChild(script, ...args);
  children.push(child);
  return child;
};

beforeEach(async () => {
  store = await makeSqliteStore();
});
afterEach(async () => {
  await endChildren(children);
  await store.dispose();
});

const integrity = async (): Promise<unknown> => {
  const db = (await loadDriver()).open(`${store.dir}/registry.db`, true);
  try {
    return db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => ({ ...(row as object) }));
  } finally {
    db.close();
  }
};

describe('several processes', () => {
  it('lose no update: 8 processes, 100 compare-and-sets each, on one row of a registry they all open at once', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `w${i}`);
    // Into a directory that is not there yet: making it is part of the race.
    const dir = `${store.dir}/new`;
    const writers = names.map((name) => start('writer', dir, 'hot', name, '100'));
    for (const writer of writers) expect(await writer.ended, writer.stderr()).toBe(0);

    const registry = await openSqliteRegistry({ dir, clock: store.clock });
    const log = await registry.log({ job: 'hot' });
    const row = await load(registry, 'hot');
    await registry.close();
    expect(row.version).toBe(801);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 801 }, (_, i) => i + 1));
    expect(log.map(({ version }) => version)).toEqual(Array.from({ length: 801 }, (_, i) => i + 1));
    const committed = log.slice(1).map(({ data }) => data);
    const acknowledged = writers.flatMap(({ lines }) => lines);
    expect(committed.toSorted()).toEqual(acknowledged.toSorted());
    expect(new Set(committed).size).toBe(800);
  });

  it('lose nothing that was acknowledged when writers are killed', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round++) {
      const writers = ['a', 'b', 'c'].map((name) => start('writer', store.dir, 'hot', `${name}${round}`, '1000000'));
      await expect.poll(() => writers.every(({ lines }) => lines.length >= 20), PATIENTLY).toBe(true);
      // One dies in the middle of its work while the others go on; then they die, too.
      for (const writer of writers) {
        writer.process.kill('SIGKILL');
        expect(await writer.ended).toBe('SIGKILL');
        acknowledged.push(...writer.lines);
      }
    }
    const log = await store.registry.log({ job: 'hot' });
    const committed = new Set(log.slice(1).map(({ data }) => data));
    expect(acknowledged.filter((line) => !committed.has(line))).toEqual([]);
    // Each of the twelve may have died between its commit and its word.
    expect(committed.size - acknowledged.length).toBeGreaterThanOrEqual(0);
    expect(committed.size - acknowledged.length).toBeLessThanOrEqual(12);
    expect((await load(store.registry, 'hot')).version).toBe(log.length);
    expect(await integrity()).toEqual([{ integrity_check: 'ok' }]);
    expect(await store.registry.commit(await load(store.registry, 'hot'), move())).toBe(true);
  });

  it('hear of each other’s changes', async () => {
    const seen = vi.fn();
    const stop = store.registry.onChange(seen);
    const writer = start('writer', store.dir, 'hot', 'w', '1');
    expect(await writer.ended, writer.stderr()).toBe(0);
    // Not even the warning of Node 22 about its SQLite: every event of an agent would print it.
    expect(writer.stderr()).toBe('');
    await expect.poll(() => seen.mock.calls.length, PATIENTLY).toBeGreaterThan(0);
    stop();
  });

  /** Both at once would hide each other's failure. */
  const listenBy = async (dir: string, pollMs?: number) => {
    const file = `${store.dir}/registry.db`;
    const connection = connect((await loadDriver()).open(file, false), file);
    const looks = vi.fn(connection.sql.get);
    const counted = { ...connection, sql: { ...connection.sql, get: looks as typeof connection.sql.get } };
    const changes = createChanges(counted, dir, pollMs);
    const seen = vi.fn();
    changes.onChange(seen);
    return {
      seen,
      looks: () => looks.mock.calls.length,
      stop() {
        changes.stop();
        connection.close();
      },
    };
  };

  it('hear of changes by the poll alone, once of each', async () => {
    const { seen, looks, stop } = await listenBy(`${store.dir}/nowhere`, 5);
    const pollsGoOn = async () => {
      const before = looks();
      await expect.poll(looks, PATIENTLY).toBeGreaterThan(before + 5);
    };
    await pollsGoOn();
    expect(seen).toHaveBeenCalledTimes(0);
    await insert(store.registry, 'a');
    await pollsGoOn();
    expect(seen).toHaveBeenCalledTimes(1);
    await claim(store.registry, 'a');
    await pollsGoOn();
    expect(seen).toHaveBeenCalledTimes(2);
    stop();
  });

  it('hear of changes by the watch alone', async () => {
    const { seen, stop } = await listenBy(store.dir, 2 ** 31 - 1);
    for (let changes = 1; changes <= 20; changes++) {
      // Durable and not: a synced commit is seen only some time after its file was written.
      await store.registry.note('ghost', entry());
      await expect.poll(() => seen.mock.calls.length, { ...PATIENTLY, interval: 1 }).toBe(2 * changes - 1);
      await insert(store.registry, `a${changes}`);
      await expect.poll(() => seen.mock.calls.length, { ...PATIENTLY, interval: 1 }).toBe(2 * changes);
    }
    stop();
  });
});

describe('a full disk', () => {
  it('is told as such, leaves nothing half-written, and the next call works once there is room', async () => {
    const child = start('full-disk', `${store.dir}/small`);
    expect(await child.ended, child.stderr()).toBe(0);
    const told = JSON.parse(child.lines.at(-1) ?? '');
    expect(told).toMatchObject({
      isRegistryError: true,
      code: 'full',
      wrote: true,
      unchanged: true,
      again: 'full',
      withRoom: true,
      after: 1,
    });
    expect(told.message).toContain('make room');
  });
});

describe('a store that another process has locked', () => {
  const lock = async () => {
    const db = (await loadDriver()).open(`${store.dir}/registry.db`, false);
    db.exec('BEGIN IMMEDIATE');
    return {
      unlock: () => db.exec('COMMIT'),
      close: () => db.close(),
    };
  };

  it('is waited for without stopping this process', async () => {
    const row = await insert(store.registry, 'a');
    const locked = await lock();
    let done = false;
    const committing = store.registry.commit(row, move({ log: entry({ what: 'patient' }) })).then((won) => {
      done = true;
      return won;
    });
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(done).toBe(false);
    expect(await store.registry.load('a')).toEqual(row);
    locked.unlock();
    expect(await committing).toBe(true);
    expect((await store.registry.log({})).at(-1)).toMatchObject({ what: 'patient' });
    locked.close();
  });

  it('is recognised whichever way the driver was asked', async () => {
    await insert(store.registry, 'a');
    const locked = await lock();
    const db = (await loadDriver()).open(`${store.dir}/registry.db`, false);
    const statement = db.prepare("UPDATE job SET state = 'x' RETURNING id");
    for (const ask of [
      () => statement.run(),
      () => statement.get(),
      () => statement.all(),
      () => db.exec('BEGIN IMMEDIATE'),
    ]) {
      let error: unknown;
      try {
        ask();
      } catch (thrown) {
        error = thrown;
      }
      expect(isBusy(error)).toBe(true);
    }
    db.close();
    locked.unlock();
    locked.close();
    expect(isBusy(new Error('database is locked'))).toBe(false);
  });

  it('is the only thing that is waited for: any other failure is told at once', async () => {
    const file = `${store.dir}/registry.db`;
    const connection = connect((await loadDriver()).open(file, false), file, Number.POSITIVE_INFINITY);
    await expect(connection.write((sql) => sql.run('no SQL'))).rejects.toThrow('syntax error');
    await expect(connection.exec('DELETE FROM nowhere')).rejects.toThrow('no such table');
    connection.close();
  });

  it('is given up in the end, with nothing written', async () => {
    const row = await insert(store.registry, 'a');
    const hasty = await openSqliteRegistry({ dir: store.dir, clock: store.clock, patienceMs: 30 });
    const locked = await lock();
    await expect(hasty.commit(row, move())).rejects.toMatchObject({ name: 'RegistryError', code: 'busy' });
    locked.unlock();
    expect(await hasty.load('a')).toEqual(row);
    expect(await hasty.commit(row, move())).toBe(true);
    await hasty.close();
    locked.close();
  });
});
