// The lock that decides who runs the one host and the one broker of a registry, between real processes.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { isLocked, takeLock } from '../../src/registry/sqlite/lock.ts';
import { available } from './available.ts';
import { type Child, endChildren, startChild } from './child.ts';
import { PATIENTLY } from './support.ts';

let dir: string;
const children: Child[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stepward-lock-'));
});
afterEach(async () => {
  await endChildren(children);
  rmSync(dir, { recursive: true, force: true });
});

const start = (...args: string[]): Child => {
  const child = startChild('lock', dir, ...args);
  children.push(child);
  return child;
};
const says = (child: Child, word: string) =>
  expect.poll(() => child.lines, { ...PATIENTLY, message: child.stderr() }).toEqual([word]);

describe.each(available)('a lock by %s', (driver) => {
  it('is held by one process, refused to all others, and free at once after kill -9', async () => {
    const holder = start(driver, 'hold');
    await says(holder, 'held');
    expect(await takeLock(dir, 'host', driver)).toBeNull();
    expect(await isLocked(dir, 'host', driver)).toBe(true);
    await says(start(driver, 'hold'), 'refused');

    holder.process.kill('SIGKILL');
    expect(await holder.ended).toBe('SIGKILL');
    expect(await isLocked(dir, 'host', driver)).toBe(false);
    const lock = await takeLock(dir, 'host', driver);
    expect(lock).not.toBeNull();
    await says(start(driver, 'hold'), 'refused');
    lock?.release();
    lock?.release();
    await says(start(driver, 'hold'), 'held');
  });

  it('excludes another part of the same process', async () => {
    const lock = await takeLock(dir, 'host', driver);
    expect(await takeLock(dir, 'host', driver)).toBeNull();
    expect(await isLocked(dir, 'host', driver)).toBe(true);
    // A refused try and a look must not drop what the process holds.
    await says(start(driver, 'hold'), 'refused');
    lock?.release();
    const again = await takeLock(dir, 'host', driver);
    expect(again).not.toBeNull();
    again?.release();
  });

  it('is one of many: another name is another lock', async () => {
    const [host, bus] = [await takeLock(dir, 'host', driver), await takeLock(dir, 'bus', driver)];
    expect([host === null, bus === null]).toEqual([false, false]);
    host?.release();
    expect([await isLocked(dir, 'host', driver), await isLocked(dir, 'bus', driver)]).toEqual([false, true]);
    bus?.release();
  });

  it('is never with two of those that want it all the time, and each gets it', async () => {
    const rivals = Array.from({ length: 4 }, () => start(driver, 'contend', '25'));
    for (const rival of rivals) expect(await rival.ended, rival.stderr()).toBe(0);
    expect(rivals.map(({ lines }) => lines)).toEqual(Array.from({ length: 4 }, () => ['done']));
  });

  it('is not disturbed by those who only look', async () => {
    const contender = start(driver, 'contend', '50');
    let looks = 0;
    for (let over = false; !over; looks++) {
      await isLocked(dir, 'host', driver);
      over = contender.process.exitCode !== null;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await contender.ended, contender.stderr()).toBe(0);
    expect(looks).toBeGreaterThan(50);
  });

  it('is not refused for the moment in which another one only asks', async () => {
    (await takeLock(dir, 'host', driver))?.release();
    for (let round = 0; round < 10; round++) {
      // What a rival or a looker holds for some microseconds.
      const looker = (await loadDriver(driver)).open(join(dir, 'host.lock'), true);
      looker.exec('BEGIN');
      looker.exec('PRAGMA user_version');
      const taking = takeLock(dir, 'host', driver);
      await new Promise((resolve) => setImmediate(resolve));
      looker.close();
      const lock = await taking;
      expect(lock).not.toBeNull();
      lock?.release();
    }
  });

  it('is for its user alone, and looking makes nothing', async () => {
    const inner = join(dir, 'a', 'b');
    expect(await isLocked(inner, 'host', driver)).toBe(false);
    expect(existsSync(join(dir, 'a'))).toBe(false);
    const lock = await takeLock(inner, 'host', driver);
    expect(statSync(inner).mode & 0o777).toBe(0o700);
    expect(statSync(join(inner, 'host.lock')).mode & 0o777).toBe(0o600);
    lock?.release();
  });

  it('says where it cannot be made', async () => {
    writeFileSync(join(dir, 'file'), '');
    await expect(takeLock(join(dir, 'file', 'x'), 'host', driver)).rejects.toMatchObject({
      name: 'RegistryError',
      code: 'unreachable',
    });
    mkdirSync(join(dir, 'host.lock'));
    const refused = { name: 'RegistryError', code: 'unreachable' };
    await expect(takeLock(dir, 'host', driver)).rejects.toMatchObject(refused);
    await expect(takeLock('/proc/nowhere', 'host', driver)).rejects.toMatchObject(refused);
  });
});

it('knows when its file is no longer the one at its path', async () => {
  const lock = await takeLock(dir, 'host');
  expect(lock?.isStill()).toBe(true);
  rmSync(join(dir, 'host.lock'));
  expect(lock?.isStill()).toBe(false);
  const next = await takeLock(dir, 'host');
  expect(next?.isStill()).toBe(true);
  expect(lock?.isStill()).toBe(false);
  lock?.release();
  next?.release();
});

it('says of a damaged lock file that it holds nothing', async () => {
  writeFileSync(join(dir, 'host.lock'), 'x'.repeat(5000));
  await expect(takeLock(dir, 'host')).rejects.toThrow(/is damaged.*holds nothing: remove it/);
  await expect(isLocked(dir, 'host')).rejects.toThrow(/holds nothing: remove it/);
});
