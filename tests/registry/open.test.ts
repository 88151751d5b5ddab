// Opening a SQLite registry: what is refused, with which sentence, and what it costs.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/registry/sqlite/connection.ts';
import { type Database, loadDriver } from '../../src/registry/sqlite/driver.ts';
import { refuseNetworkFs } from '../../src/registry/sqlite/file-system.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { prepareSchema } from '../../src/registry/sqlite/schema.ts';
import { makeSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { insert, move } from './support.ts';

let store: SqliteStore;
beforeEach(async () => {
  store = await makeSqliteStore();
});
afterEach(() => store.dispose());

const open = (dir: string, readonly = false) => openSqliteRegistry({ dir, clock: store.clock, readonly });
const raw = async (): Promise<Database> => (await loadDriver()).open(`${store.dir}/registry.db`, false);

describe('opening', () => {
  it('makes the directory and the file for their owner only', async () => {
    await insert(store.registry, 'a');
    expect((await stat(store.dir)).mode & 0o777).toBe(0o700);
    for (const file of ['registry.db', 'registry.db-wal', 'registry.db-shm']) {
      expect((await stat(`${store.dir}/${file}`)).mode & 0o777).toBe(0o600);
    }
  });

  it('keeps what is there when it opens again, and uses WAL', async () => {
    const row = await insert(store.registry, 'a');
    await store.registry.close();
    const again = await store.open();
    expect(await again.load('a')).toEqual(row);
    const db = await raw();
    expect({ ...(db.prepare('PRAGMA journal_mode').get() as object) }).toEqual({ journal_mode: 'wal' });
    db.close();
  });

  it('refuses a newer schema and leaves it as it is', async () => {
    await store.registry.close();
    const db = await raw();
    db.exec('PRAGMA user_version = 99');
    db.close();
    const before = await readFile(`${store.dir}/registry.db`);
    for (const readonly of [false, true]) {
      const opening = open(store.dir, readonly);
      await expect(opening).rejects.toMatchObject({ name: 'RegistryError', code: 'newer_schema' });
      await expect(opening).rejects.toThrow(/newer Stepward \(schema 99; this build knows up to 1\)/);
    }
    expect(await readFile(`${store.dir}/registry.db`)).toEqual(before);
  });

  it('refuses a file that is no registry, and leaves it as it is', async () => {
    const dir = `${store.dir}/other`;
    await mkdir(dir);
    await writeFile(`${dir}/registry.db`, 'my shopping list\n'.repeat(500));
    await expect(open(dir)).rejects.toMatchObject({ name: 'RegistryError', code: 'corrupt' });
    await expect(open(dir)).rejects.toThrow(`${dir}/registry.db is not a sound registry`);
    expect(await readFile(`${dir}/registry.db`, 'utf8')).toBe('my shopping list\n'.repeat(500));
  });

  it('tells a damaged file from its pages', async () => {
    for (const id of ['a', 'b', 'c']) await insert(store.registry, id);
    const db = await raw();
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const bytes = await readFile(`${store.dir}/registry.db`);
    const dir = `${store.dir}/damaged`;
    await mkdir(dir);
    await writeFile(`${dir}/registry.db`, bytes.fill(0xab, 4096));
    // The first page is whole, so it may open; the first call that meets the damage says so.
    const using = open(dir).then(async (registry) => registry.list().finally(() => registry.close()));
    await expect(using).rejects.toMatchObject({ name: 'RegistryError', code: 'corrupt' });
  });

  it('says that a directory cannot be used', async () => {
    await writeFile(`${store.dir}/file`, '');
    await expect(open(`${store.dir}/file`)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(open(`${store.dir}/file/below`)).rejects.toMatchObject({ code: 'unreachable' });
    await mkdir(`${store.dir}/taken/registry.db`, { recursive: true });
    await expect(open(`${store.dir}/taken`)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('reads without writing when it is asked to', async () => {
    const row = await insert(store.registry, 'a');
    const reader = await open(store.dir, true);
    expect(await reader.load('a')).toEqual(row);
    await expect(reader.commit(row, move())).rejects.toMatchObject({ code: 'unreachable' });
    await expect(insert(reader, 'b')).rejects.toMatchObject({ code: 'unreachable' });
    await reader.close();
    expect(await store.registry.load('a')).toEqual(row);
  });

  it('makes nothing for a reader', async () => {
    const dir = `${store.dir}/nothing`;
    await expect(open(dir, true)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(stat(dir)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(dir);
    await expect(open(dir, true)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(stat(`${dir}/registry.db`)).rejects.toMatchObject({ code: 'ENOENT' });
    // Somebody is about to make one.
    await writeFile(`${dir}/registry.db`, '');
    await expect(open(dir, true)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('names the drivers where there is none', async () => {
    const missing = process.getBuiltinModule?.('node:sqlite') ? undefined : loadDriver('node:sqlite');
    // Where Node has its own, both can be loaded; where it has not, asking for it says what to install.
    if (missing) await expect(missing).rejects.toThrow('@photostructure/sqlite');
    else await expect(loadDriver('node:sqlite')).resolves.toMatchObject({ name: 'node:sqlite' });
  });
});

describe('network file systems', () => {
  const judge =
    (type: number, platform = 'linux') =>
    () =>
      refuseNetworkFs('/srv/x', { type }, platform);

  it('are refused by their type, with PostgreSQL as the way out', () => {
    for (const [type, name] of [
      [0x6969, 'NFS'],
      [0xff534d42, 'CIFS'],
      [0xfe534d42, 'SMB'],
      [0x517b, 'SMB'],
      [0x01021997, '9p'],
      [0x00c36400, 'Ceph'],
    ] as const) {
      expect(judge(type)).toThrow(name);
      expect(judge(type)).toThrow(/\/srv\/x.*PostgreSQL/);
      expect(judge(type)).toThrow(expect.objectContaining({ name: 'RegistryError', code: 'network_fs' }));
    }
    // A signed 32-bit number, as some builds give it.
    expect(judge(0xff534d42 | 0)).toThrow('CIFS');
  });

  it('are not seen in local ones, nor where types mean something else', () => {
    for (const local of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x65735546])
      expect(judge(local)).not.toThrow();
    expect(judge(0x6969, 'darwin')).not.toThrow();
  });
});

describe('what it costs', () => {
  /** The real driver, with what it was asked to do written down. */
  const recorded = async (): Promise<{ db: Database; asked: string[] }> => {
    const db = await raw();
    const asked: string[] = [];
    const note = <T>(sql: string, then: () => T): T => {
      asked.push(sql);
      return then();
    };
    return {
      asked,
      db: {
        exec: (sql) => note(sql, () => db.exec(sql)),
        prepare(sql) {
          const statement = db.prepare(sql);
          return {
            run: (...values) => note(sql, () => statement.run(...values)),
            get: (...values) => note(sql, () => statement.get(...values)),
            all: (...values) => note(sql, () => statement.all(...values)),
          };
        },
        close: () => db.close(),
      },
    };
  };

  it('is one statement for a registry that is there', async () => {
    const { db, asked } = await recorded();
    const connection = connect(db, 'x');
    await prepareSchema(connection, 'x', false);
    expect(asked).toEqual(['PRAGMA user_version']);
    connection.close();
  });

  it('syncs durable transactions fully, others not, and never begins a deferred one', async () => {
    const { db, asked } = await recorded();
    const connection = connect(db, 'x');
    for (const durable of [false, true, true, false]) await connection.write(() => asked.push('work'), { durable });
    const transaction = ['BEGIN IMMEDIATE', 'work', 'COMMIT'];
    expect(asked).toEqual([
      'PRAGMA synchronous = NORMAL',
      ...transaction,
      'PRAGMA synchronous = FULL',
      ...transaction,
      ...transaction,
      'PRAGMA synchronous = NORMAL',
      ...transaction,
    ]);
    connection.close();
  });

  it('loads nothing of node_modules but the driver', async () => {
    const { metafile } = await esbuild.build({
      entryPoints: [fileURLToPath(new URL('../../src/registry/sqlite/open.ts', import.meta.url))],
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      external: ['@photostructure/sqlite'],
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.some((path) => path.endsWith('registry/sqlite/plans.ts'))).toBe(true);
    expect(inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
    expect(inputs.filter((path) => !/^(src\/registry|machines\/job\/vocabulary)/.test(path))).toEqual([]);
  });
});
