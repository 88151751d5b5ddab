import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Envelope } from '../../src/kernel/ports.ts';
import { makeEnvelope } from '../../src/signals/envelope.ts';
import { SpoolError, writeSpool } from '../../src/signals/spool.ts';
import { type SpoolWatch, watchSpool } from '../../src/signals/watch.ts';
import { createWays, type Ways } from '../../src/signals/ways.ts';
import { JOB, undriven, until, type World } from './world.ts';

type Ready = World & { ways: Ways; at: { job: string; attempt: number; cwd: string }; sign: Sign };
type Sign = (seq: number, event?: Envelope['event']) => Promise<Envelope>;

async function ready(): Promise<Ready> {
  const world = await undriven();
  const ways = createWays(world.registry);
  onTestFinished(() => ways.closeAll());
  const sign: Sign = async (seq, event = { type: 'progress' }) =>
    makeEnvelope({ job: JOB, attempt: 1, seq, event, now: 0 }, await world.key());
  return { ...world, ways, at: { job: JOB, attempt: 1, cwd: world.cwd }, sign };
}

const inbox = async ({ registry }: World) => (await registry.undecided(JOB)).map(({ id }) => id);
const refusals = async ({ registry }: World) =>
  (await registry.log({ job: JOB })).filter(({ what, verdict }) => what === 'spool' && verdict === 'refused');

/** A witness is polled like a way that is open: what it has heard of twice, a way that was not closed would have taken. */
async function heardTwice(world: World): Promise<void> {
  let heard = 0;
  const watch = await watchSpool(world.paths, () => heard++);
  await until(() => heard >= 2);
  watch.close();
}

describe('the ways of an attempt', () => {
  it('copy what lies in the spool into the inbox, saying by which way it came', async () => {
    const world = await ready();
    const [second, first] = [await world.sign(2), await world.sign(1)];
    await writeSpool(world.paths, second);
    await writeSpool(world.paths, first);
    expect(await world.ways.collect(world.at)).toBe(2);
    const rows = await world.registry.undecided(JOB);
    expect(rows.map(({ request, way }) => ({ request, way }))).toEqual([
      { request: { from: 'agent', id: first.id, envelope: first }, way: 'spool' },
      { request: { from: 'agent', id: second.id, envelope: second }, way: 'spool' },
    ]);
  });

  it('once open, copy what comes at once, and tell it', async () => {
    const world = await ready();
    const before = await world.sign(1);
    await writeSpool(world.paths, before);
    let told = 0;
    await world.ways.open(world.at, () => told++);
    expect(await inbox(world)).toEqual([before.id]);
    expect(told).toBe(1);
    const after = await world.sign(2);
    await writeSpool(world.paths, after);
    await until(async () => (await inbox(world)).includes(after.id));
    await until(() => told === 2);
    await until(async () => (await readdir(world.paths.spool)).length === 0);
  });

  it('go on when the agent sweeps the directory away and makes it anew, twice', async () => {
    const world = await ready();
    await world.ways.open(world.at, () => {});
    for (const seq of [1, 2]) {
      await rm(join(world.cwd, '.stepward'), { recursive: true });
      const envelope = await world.sign(seq);
      await writeSpool(world.paths, envelope);
      await until(async () => (await inbox(world)).includes(envelope.id));
    }
  });

  it('can be opened again and again, by several at once, and watched once', async () => {
    const world = await ready();
    const told = [0, 0];
    const first = world.ways.open(world.at, () => told[0]!++);
    const second = world.ways.open({ ...world.at }, () => told[1]!++);
    await Promise.all([first, second]);
    const envelope = await world.sign(1);
    await writeSpool(world.paths, envelope);
    await until(() => told[1] === 1);
    expect(told[0]).toBe(0);
  });

  it('say nothing more once closed; what comes later is there for whoever collects', async () => {
    const world = await ready();
    let told = 0;
    await world.ways.open(world.at, () => told++);
    world.ways.close(JOB);
    const envelope = await world.sign(1);
    await writeSpool(world.paths, envelope);
    await heardTwice(world);
    expect(told).toBe(0);
    expect(await inbox(world)).toEqual([]);
    expect(await world.ways.collect(world.at)).toBe(1);
  });

  it('closed while they are being opened stay closed, and say so', async () => {
    const world = await ready();
    const opening = world.ways.open(world.at, () => {});
    world.ways.closeAll();
    await expect(opening).rejects.toThrow(SpoolError);
    await world.ways.open(world.at, () => {});
  });

  it('make their spool, and are not open where it cannot be', async () => {
    const world = await ready();
    await rm(join(world.cwd, '.stepward'), { recursive: true });
    await world.ways.open(world.at, () => {});
    world.ways.close(JOB);
    await rm(world.paths.spool, { recursive: true });
    await writeFile(world.paths.spool, '');
    await expect(world.ways.open(world.at, () => {})).rejects.toThrow(`${world.paths.spool} is not a directory`);
    await rm(world.cwd, { recursive: true });
    await expect(world.ways.open(world.at, () => {})).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('of a new attempt close those of the old one', async () => {
    const world = await ready();
    await world.ways.open(world.at, () => {});
    const second = join(world.cwd, '.stepward', JOB, '2', 'spool');
    await mkdir(second, { recursive: true });
    let told = 0;
    await world.ways.open({ ...world.at, attempt: 2 }, () => told++);
    const two = makeEnvelope({ job: JOB, attempt: 2, seq: 1, event: { type: 'started' }, now: 0 }, await world.key());
    await writeSpool({ spool: second, refused: join(second, 'refused') }, two);
    await until(() => told === 1);
    const late = await world.sign(9);
    await writeSpool(world.paths, late);
    await heardTwice(world);
    expect(await inbox(world)).toEqual([two.id]);
  });

  it('keep an envelope that the registry cannot take', async () => {
    const world = await ready();
    await writeSpool(world.paths, await world.sign(1));
    await world.registry.close();
    await expect(world.ways.collect(world.at)).rejects.toMatchObject({ name: 'RegistryError' });
    expect(await readdir(world.paths.spool)).toHaveLength(1);
  });

  it('collect one at a time: a burst of calls takes every file once', async () => {
    const world = await ready();
    for (let seq = 1; seq <= 20; seq++) await writeSpool(world.paths, await world.sign(seq));
    const counts = await Promise.all(Array.from({ length: 5 }, () => world.ways.collect(world.at)));
    expect(counts.reduce((a, b) => a + b)).toBe(20);
    expect(await inbox(world)).toHaveLength(20);
  });
});

describe('the gate refuses and logs, and does nothing else with', () => {
  it('an envelope with a forged signature', async () => {
    const world = await ready();
    const forged = makeEnvelope({ job: JOB, attempt: 1, seq: 1, event: { type: 'failed' }, now: 0 }, 'no key');
    await writeSpool(world.paths, forged);
    expect(await world.ways.collect(world.at)).toBe(0);
    expect(await inbox(world)).toEqual([]);
    expect(await refusals(world)).toMatchObject([{ from: 'agent', reason: expect.stringMatching(/^bad_signature/) }]);
  });

  it('an altered one, which must not take the place of the true one with the same id', async () => {
    const world = await ready();
    const honest = await world.sign(1, { type: 'failed', detail: 'no licence' });
    await writeSpool(world.paths, { ...honest, event: { type: 'failed', detail: 'changed' } });
    expect(await world.ways.collect(world.at)).toBe(0);
    await writeSpool(world.paths, honest);
    expect(await world.ways.collect(world.at)).toBe(1);
    expect(await inbox(world)).toEqual([honest.id]);
    expect(await refusals(world)).toHaveLength(1);
  });

  it('one of another attempt, and a corrupt file', async () => {
    const world = await ready();
    const key = await world.key();
    const foreign = makeEnvelope({ job: JOB, attempt: 2, seq: 1, event: { type: 'failed' }, now: 0 }, key);
    await writeSpool(world.paths, foreign);
    await writeFile(join(world.paths.spool, '1-corrupt.json'), '{');
    const version = (await world.row()).version;
    expect(await world.ways.collect(world.at)).toBe(0);
    expect(await inbox(world)).toEqual([]);
    const reasons = (await refusals(world)).map(({ reason }) => reason);
    expect(reasons.sort()).toEqual(['not JSON', 'other_attempt: it is of job job1, attempt 2']);
    expect((await world.row()).version).toBe(version);
  });
});

describe('a watch on the spool', () => {
  it('hears of a directory that was replaced by another one', async () => {
    const world = await ready();
    let news = 0;
    const watch: SpoolWatch = await watchSpool(world.paths, () => news++);
    onTestFinished(() => watch.close());
    await rename(world.paths.dir, join(world.root, 'away'));
    for (const seq of [1, 2]) {
      await writeSpool(world.paths, await world.sign(seq));
      const heard = news;
      await until(() => news > heard);
    }
  });

  it('follows the new directory itself, not only by the poll, which sees no half-written file', async () => {
    const world = await ready();
    let news = 0;
    const watch = await watchSpool(world.paths, () => news++);
    onTestFinished(() => watch.close());
    await rename(world.paths.dir, join(world.root, 'away'));
    await mkdir(world.paths.spool, { recursive: true });
    const heard = news;
    await until(async () => {
      await writeFile(join(world.paths.spool, '.half.tmp'), 'half');
      return news > heard;
    });
  });

  it('keeps no process alive', async () => {
    const world = await ready();
    const watch = pathToFileURL(join(import.meta.dirname, '../../src/signals/watch.ts')).href;
    const script = `
      const { watchSpool } = await import(${JSON.stringify(watch)});
      await watchSpool(${JSON.stringify(world.paths)}, () => {});
      console.log('watching');`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    // A process that stays is killed at the limit, and execFile rejects.
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 });
    expect(stdout).toBe('watching\n');
  });
});
