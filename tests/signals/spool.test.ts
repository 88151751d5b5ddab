import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/kernel/ports.ts';
import { makeEnvelope } from '../../src/signals/envelope.ts';
import { type AttemptPaths, attemptPaths } from '../../src/signals/paths.ts';
import { collectSpool, hasNews, writeSpool } from '../../src/signals/spool.ts';
import { tempDirectory } from './world.ts';

let paths: AttemptPaths;
let taken: Envelope[];
let refused: { file: string; why: string }[];

const envelope = (seq: number, where: { job?: string; attempt?: number } = {}) =>
  makeEnvelope({ job: 'job1', attempt: 1, seq, event: { type: 'progress' }, now: 0, ...where }, 'key');

const take = async (one: Envelope): Promise<void> => {
  taken.push(one);
};
const collect = (deliver = take) =>
  collectSpool(paths, { job: 'job1', attempt: 1, deliver, refused: (refusal) => void refused.push(refusal) });

beforeEach(async () => {
  paths = attemptPaths({ cwd: await tempDirectory(), job: 'job1', attempt: 1 });
  await mkdir(paths.spool, { recursive: true });
  taken = [];
  refused = [];
});

describe('the spool', () => {
  it('gives envelopes back as they were written, lowest sequence number first, each once', async () => {
    const all = [2, 10, 9, 1].map((seq) => envelope(seq));
    for (const one of all) await writeSpool(paths, one);
    expect((await readdir(paths.spool)).sort()).toEqual(all.map(({ seq, id }) => `${seq}-${id}.json`).sort());
    expect(await hasNews(paths)).toBe(true);
    expect(await collect()).toBe(4);
    expect(taken.map(({ seq }) => seq)).toEqual([1, 2, 9, 10]);
    expect(taken[0]).toEqual(all[3]);
    expect(await collect()).toBe(0);
    expect(await hasNews(paths)).toBe(false);
    expect(refused).toEqual([]);
  });

  it('is made anew by whoever writes, if the agent swept it away', async () => {
    await rm(paths.dir, { recursive: true });
    expect(await collect()).toBe(0);
    await writeSpool(paths, envelope(1));
    expect(await collect()).toBe(1);
  });

  it('keeps what the inbox did not take, and hands it over again', async () => {
    await writeSpool(paths, envelope(1));
    await writeSpool(paths, envelope(2));
    const full = async (one: Envelope) => {
      if (one.seq === 2) throw new Error('disk full');
      taken.push(one);
    };
    await expect(collect(full)).rejects.toThrow('disk full');
    expect((await readdir(paths.spool)).map((name) => name.split('-')[0])).toEqual(['2']);
    expect(await collect()).toBe(1);
    expect(taken.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('hands over a second time, under the same id, what was taken right before a crash', async () => {
    await writeSpool(paths, envelope(1));
    const crash = async (one: Envelope) => {
      taken.push(one);
      throw new Error('killed before the file was unlinked');
    };
    await expect(collect(crash)).rejects.toThrow('killed');
    await collect();
    expect(taken).toHaveLength(2);
    expect(taken[0]?.id).toBe(taken[1]?.id);
  });

  it('leaves half-written files alone', async () => {
    await writeFile(join(paths.spool, '.1-x.json.abc.tmp'), '{"v":1');
    await writeFile(join(paths.spool, '1-x.json.tmp'), '{"v":1');
    expect(await hasNews(paths)).toBe(false);
    expect(await collect()).toBe(0);
    expect(refused).toEqual([]);
    expect(await readdir(paths.spool)).toHaveLength(2);
  });

  it('leaves no temporary file behind', async () => {
    await writeSpool(paths, envelope(1));
    expect(await readdir(paths.spool)).toHaveLength(1);
  });

  it.each([
    ['a link to a directory', async () => symlink(await tempDirectory(), paths.spool)],
    ['a file', async () => writeFile(paths.spool, 'mine')],
  ])('that is %s is told, moved aside, and made anew by whoever writes', async (_, put) => {
    await rm(paths.spool, { recursive: true });
    await put();
    expect(await hasNews(paths)).toBe(true);
    expect(await collect()).toBe(0);
    expect(refused).toEqual([{ file: 'spool', why: 'the spool is not a directory' }]);
    expect(await readdir(paths.dir)).toEqual(['spool.refused']);
    await writeSpool(paths, envelope(1));
    expect(await collect()).toBe(1);
    expect(refused).toHaveLength(1);
  });

  it('may hold more files than a process may open', async () => {
    let open = 0;
    let most = 0;
    for (let seq = 1; seq <= 300; seq++) {
      const one = envelope(seq);
      await writeFile(join(paths.spool, `${one.id}.json`), JSON.stringify(one));
    }
    const inspect = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return null;
    };
    expect(await collectSpool(paths, { job: 'job1', attempt: 1, deliver: take, refused: () => {}, inspect })).toBe(300);
    expect(taken.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (__, index) => index + 1));
    expect(most).toBeLessThanOrEqual(32);
  });
});

describe('moved aside with its reason, told, and never in the way of the others, is', () => {
  const cases: [string, string, (file: string) => Promise<unknown>][] = [
    ['a corrupt file', 'not JSON', (file) => writeFile(file, '{"v":1,')],
    ['an empty file', 'not JSON', (file) => writeFile(file, '')],
    ['an oversized file', 'longer than 65536 bytes', (file) => writeFile(file, `"${'x'.repeat(64 * 1024)}"`)],
    ['bytes that are no text', 'not JSON', (file) => writeFile(file, Buffer.from([0xff, 0xfe, 0x00]))],
    ['another job’s envelope', 'other_attempt', (f) => writeFile(f, JSON.stringify(envelope(3, { job: 'job2' })))],
    ['another attempt’s envelope', 'other_attempt', (f) => writeFile(f, JSON.stringify(envelope(3, { attempt: 2 })))],
    ['a directory', 'not a regular file', (file) => mkdir(file)],
    ['a pipe', 'not a regular file', async (file) => execFileSync('sh', ['-c', 'mkfifo "$0"', file])],
    [
      'a link to an envelope',
      'a symlink',
      async (file) => {
        await writeFile(join(paths.dir, 'outside.json'), JSON.stringify(envelope(3)));
        await symlink(join(paths.dir, 'outside.json'), file);
      },
    ],
    ['a link to nowhere', 'a symlink', (file) => symlink('/nowhere/at/all', file)],
  ];

  it.each(cases)('%s', async (_, why, put) => {
    const file = '0-bad.json';
    await put(join(paths.spool, file));
    await writeSpool(paths, envelope(1));
    expect(await collect()).toBe(1);
    expect(refused).toEqual([{ file, why: expect.stringContaining(why) }]);
    expect((await readdir(paths.refused)).sort()).toEqual([file, `${file}.why`]);
    expect(await readFile(join(paths.refused, `${file}.why`), 'utf8')).toContain(why);
    expect(await readdir(paths.spool)).toEqual(['refused']);
    expect(await collect()).toBe(0);
    expect(refused).toHaveLength(1);
  });

  it('a file with a strange name, if what is in it is no envelope', async () => {
    await writeFile(join(paths.spool, 'notes.txt'), 'hello');
    await collect();
    expect(refused).toEqual([{ file: 'notes.txt', why: 'not JSON' }]);
  });

  it('each of two files of one name: the evidence of the first is kept', async () => {
    for (const text of ['first', 'second']) {
      await writeFile(join(paths.spool, 'x.json'), text);
      await collect();
    }
    expect(await readFile(join(paths.refused, 'x.json'), 'utf8')).toBe('first');
    expect(await readFile(join(paths.refused, 'x.json.1'), 'utf8')).toBe('second');
    expect(refused).toHaveLength(2);
  });

  it.each([
    ['bytes', 'x'.repeat(255)],
    ['letters of several bytes', 'é'.repeat(127)],
  ])('each of two files whose long names, in %s, differ only at the end', async (_, name) => {
    for (const end of ['1', '2']) await writeFile(join(paths.spool, name.slice(0, -1) + end), 'bad');
    await writeSpool(paths, envelope(1));
    expect(await collect()).toBe(1);
    expect(refused).toHaveLength(2);
    expect(await readdir(paths.refused)).toHaveLength(4);
    expect(await readdir(paths.spool)).toEqual(['refused']);
  });

  it.each([
    ['a file', 'not JSON', () => writeFile(paths.refused, 'mine')],
    ['a link to a directory elsewhere', 'a symlink', async () => symlink(await tempDirectory(), paths.refused)],
  ])('%s in the place of refused/', async (_, why, put) => {
    await put();
    await writeFile(join(paths.spool, 'bad.json'), 'bad');
    await writeSpool(paths, envelope(1));
    expect(await collect()).toBe(1);
    expect(refused.map(({ file }) => file)).toEqual(['refused', 'bad.json']);
    expect(refused[0]?.why).toContain(why);
    expect((await lstat(paths.refused)).isDirectory()).toBe(true);
    expect((await readdir(paths.refused)).sort()).toEqual(['bad.json', 'bad.json.why', 'refused', 'refused.why']);
    expect(await readdir(paths.spool)).toEqual(['refused']);
  });

  it('nothing that cannot be: it is told once, and the others go on', async () => {
    const told = new Set<string>();
    const collector = {
      job: 'job1',
      attempt: 1,
      deliver: take,
      refused: (one: (typeof refused)[0]) => void refused.push(one),
      told,
    };
    // Read as U+FFFD, a name that no file has.
    await writeFile(Buffer.concat([Buffer.from(`${paths.spool}/`), Buffer.from([0x61, 0xff])]), 'bad');
    for (const seq of [1, 2]) {
      await writeSpool(paths, envelope(seq));
      expect(await collectSpool(paths, collector)).toBe(1);
    }
    expect(refused).toEqual([{ file: 'a\uFFFD', why: 'its name is not UTF-8' }]);
  });

  it('nothing that was not told before: a crash tells it twice', async () => {
    await writeFile(join(paths.spool, 'x.json'), 'bad');
    const crash = () => {
      throw new Error('killed');
    };
    const collector = { job: 'job1', attempt: 1, deliver: async () => {}, refused: crash };
    await expect(collectSpool(paths, collector)).rejects.toThrow('killed');
    await collect();
    expect(refused).toEqual([{ file: 'x.json', why: 'not JSON' }]);
    expect(await readdir(paths.spool)).toEqual(['refused']);
  });
});
