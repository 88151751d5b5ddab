import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptPaths, prepareAttempt } from '../../src/signals/attempt.ts';
import { InputError } from '../../src/signals/errors.ts';
import { finalizeReport, type HandIn, verifyManifest } from '../../src/signals/manifest.ts';
import { newKey, signatureOf } from '../../src/signals/signature.ts';
import { tempDirectory } from './world.ts';

const key = newKey();
let root: string;
let cwd: string;
let paths: AttemptPaths;

beforeEach(async () => {
  root = await tempDirectory();
  cwd = join(root, 'project');
  await mkdir(join(cwd, 'out'), { recursive: true });
  await writeFile(join(root, 'outside.md'), 'not yours');
  await writeFile(join(cwd, 'report.md'), '# Done\n');
  await writeFile(join(cwd, 'out', 'a.bin'), Buffer.from([0, 1, 2, 255]));
  const ref = { cwd, job: 'job1', attempt: 1 };
  paths = await prepareAttempt({ ...ref, key, registryDir: root, brief: '', command: 'stepward' });
});

const finalize = (given: Partial<HandIn> = {}) =>
  finalizeReport({ cwd, job: 'job1', attempt: 1, key, from: cwd, report: 'report.md', ...given });
const verify = (given: { key?: string; attempt?: number; job?: string } = {}) =>
  verifyManifest({ cwd, job: 'job1', attempt: 1, key, ...given });
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

/** Signs a changed manifest anew, as an agent that holds the key could. */
async function rewrite(change: (manifest: Record<string, unknown>) => object, signWith = key): Promise<void> {
  const changed = change(JSON.parse(await readFile(paths.manifest, 'utf8')) as Record<string, unknown>);
  await writeFile(paths.manifest, JSON.stringify({ ...changed, sig: signatureOf(changed, signWith) }));
}

describe('a finalized report', () => {
  it('is named by content, the report first, and verifies', async () => {
    const done = await finalize({ artifacts: ['out/a.bin'] });
    const text = await readFile(paths.manifest, 'utf8');
    expect(done.sha256).toBe(sha256(text));
    expect(done.files).toEqual([
      { path: 'report.md', sha256: sha256('# Done\n'), bytes: 7 },
      { path: 'out/a.bin', sha256: sha256(Buffer.from([0, 1, 2, 255])), bytes: 4 },
    ]);
    const manifest = JSON.parse(text) as Record<string, unknown>;
    expect(manifest).toMatchObject({ schema: 'stepward.manifest/1', job: 'job1', attempt: 1, files: done.files });
    expect(await verify()).toEqual({ valid: true, ...done });
  });

  it('is the attempt’s own report.md if nothing else is named', async () => {
    await writeFile(paths.report, 'short');
    const { files } = await finalize({ report: undefined });
    expect(files.map(({ path }) => path)).toEqual(['.stepward/job1/1/report.md']);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('says the same when said again, and replaces the former one when it is another', async () => {
    const [first, again] = [await finalize(), await finalize()];
    expect(again).toEqual(first);
    await writeFile(join(cwd, 'report.md'), 'better');
    expect((await finalize()).sha256).not.toBe(first.sha256);
    expect(await verify()).toMatchObject({ valid: true });
    expect((await readdir(paths.dir)).filter((name) => name.includes('manifest'))).toEqual(['manifest.json']);
  });

  it('may be named from a directory below, by an absolute path, by a link that stays inside; each file counts once', async () => {
    await symlink('out/a.bin', join(cwd, 'link.bin'));
    const artifacts = ['a.bin', join(cwd, 'out', 'a.bin'), '../link.bin'];
    const { files } = await finalize({ from: join(cwd, 'out'), report: '../report.md', artifacts });
    expect(files.map(({ path }) => path)).toEqual(['report.md', 'out/a.bin']);
  });

  it('may be named through another name of the working directory', async () => {
    await symlink(cwd, join(root, 'alias'));
    const { files } = await finalize({ report: join(root, 'alias', 'report.md') });
    expect(files.map(({ path }) => path)).toEqual(['report.md']);
  });

  it('may be larger than a chunk', async () => {
    const big = Buffer.alloc(3 * 1024 * 1024 + 17, 'x');
    await writeFile(join(cwd, 'big.bin'), big);
    const { files } = await finalize({ artifacts: ['big.bin'] });
    expect(files[1]).toEqual({ path: 'big.bin', sha256: sha256(big), bytes: big.length });
  });
});

describe('finalizing refuses, with option, value and what is allowed, and writes nothing:', () => {
  const cases: [string, string, () => Promise<Partial<HandIn>>][] = [
    ['a report that is missing', '--report: "no.md" does not exist', async () => ({ report: 'no.md' })],
    ['a report below a file', '--report: "report.md/x" does not exist', async () => ({ report: 'report.md/x' })],
    ['no default report', '/report.md" does not exist', async () => ({ report: undefined })],
    ['an empty value', '--report: "" is empty', async () => ({ report: '' })],
    ['a path outside', '--report: "../outside.md" lies outside', async () => ({ report: '../outside.md' })],
    ['an absolute path outside', 'lies outside', async () => ({ report: join(root, 'outside.md') })],
    ['an artifact outside', '--artifact: "/etc/passwd" lies outside', async () => ({ artifacts: ['/etc/passwd'] })],
    ['the working directory itself', '--report: "." lies outside', async () => ({ report: '.' })],
    ['a directory', '--artifact: "out" is not a regular file', async () => ({ artifacts: ['out'] })],
    [
      'a sibling whose name begins alike',
      'lies outside',
      async () => {
        await mkdir(`${cwd}-2`);
        await writeFile(join(`${cwd}-2`, 'r.md'), 'x');
        return { report: '../project-2/r.md' };
      },
    ],
    [
      'a link that leads out',
      '"link.md" lies outside the working directory, or a symlink in it leads out',
      async () => {
        await symlink(join(root, 'outside.md'), join(cwd, 'link.md'));
        return { report: 'link.md' };
      },
    ],
    [
      'a link in the middle that leads out',
      'a symlink in it leads out',
      async () => {
        await symlink(root, join(cwd, 'up'));
        return { artifacts: ['up/outside.md'] };
      },
    ],
    [
      'a pipe',
      'is not a regular file',
      async () => {
        execFileSync('sh', ['-c', 'mkfifo "$0"', join(cwd, 'pipe')]);
        return { report: 'pipe' };
      },
    ],
    [
      'an empty report',
      '"empty.md" is empty',
      async () => {
        await writeFile(join(cwd, 'empty.md'), '');
        return { report: 'empty.md' };
      },
    ],
    [
      'a report of nothing but white space',
      '"blank.md" is empty',
      async () => {
        await writeFile(join(cwd, 'blank.md'), ' \n\t\r\n');
        return { report: 'blank.md' };
      },
    ],
    [
      'more artifacts than a thousand',
      '--artifact: there are 1000 of them; allowed: 999 at the most',
      async () => ({ artifacts: Array.from({ length: 1000 }, () => 'out/a.bin') }),
    ],
  ];

  it.each(cases)('%s', async (_, sentence, given) => {
    const refused = finalize(await given());
    await expect(refused).rejects.toThrow(InputError);
    await expect(refused).rejects.toThrow(sentence);
    await expect(refused).rejects.toThrow(/; allowed: /);
    expect(await readdir(paths.dir)).not.toContain('manifest.json');
  });

  it('the manifest as its own artifact', async () => {
    await finalize();
    const before = await readFile(paths.manifest, 'utf8');
    await expect(finalize({ artifacts: [paths.manifest] })).rejects.toThrow('is the manifest itself');
    expect(await readFile(paths.manifest, 'utf8')).toBe(before);
  });

  it('but not an empty artifact', async () => {
    await writeFile(join(cwd, 'empty.log'), '');
    await finalize({ artifacts: ['empty.log'] });
    expect(await verify()).toMatchObject({ valid: true });
  });
});

describe('verifying says what is wrong:', () => {
  const cases: [string, string, () => Promise<unknown>][] = [
    ['no manifest', 'there is no manifest.json', () => rm(paths.manifest)],
    ['half a manifest', 'manifest.json is not JSON', () => truncate(paths.manifest, 40)],
    ['another JSON', 'manifest.json is not a manifest', () => writeFile(paths.manifest, '{"files":[]}')],
    [
      'a link for a manifest',
      'manifest.json cannot be read: a symlink',
      async () => {
        await rename(paths.manifest, join(cwd, 'm.json'));
        await symlink(join(cwd, 'm.json'), paths.manifest);
      },
    ],
    ['a changed report', 'report.md has changed since', () => writeFile(join(cwd, 'report.md'), '# Gone\n')],
    ['a longer report', 'report.md has 9 bytes, 7 were', () => writeFile(join(cwd, 'report.md'), '# Done\n\n\n')],
    ['a missing artifact', 'out/a.bin is missing', () => rm(join(cwd, 'out', 'a.bin'))],
    [
      'a report replaced by a directory',
      'report.md is not a regular file',
      async () => {
        await rm(join(cwd, 'report.md'));
        await mkdir(join(cwd, 'report.md'));
      },
    ],
    [
      'a report replaced by a link that leads out',
      'report.md lies outside the working directory',
      async () => {
        await rename(join(cwd, 'report.md'), join(root, 'moved.md'));
        await symlink(join(root, 'moved.md'), join(cwd, 'report.md'));
      },
    ],
    ['a forged signature', 'not signed with the key of this attempt', () => rewrite((m) => m, newKey())],
    ['no files', 'manifest.json is not a manifest', () => rewrite((m) => ({ ...m, files: [] }))],
    [
      'a path that leaves, however well signed',
      '../outside.md lies outside',
      () => rewrite((m) => ({ ...m, files: [{ path: '../outside.md', sha256: sha256('not yours'), bytes: 9 }] })),
    ],
    ['another job', 'is of job job2, attempt 1', () => rewrite((m) => ({ ...m, job: 'job2' }))],
    ['another attempt', 'is of job job1, attempt 2', () => rewrite((m) => ({ ...m, attempt: 2 }))],
    [
      'one changed digit',
      'not signed with the key of this attempt',
      async () => {
        const text = await readFile(paths.manifest, 'utf8');
        await writeFile(paths.manifest, text.replace('"bytes": 7', '"bytes": 8'));
      },
    ],
  ];

  it.each(cases)('%s', async (_, why, spoil) => {
    await finalize({ artifacts: ['out/a.bin'] });
    await spoil();
    expect(await verify()).toEqual({ valid: false, why: expect.stringContaining(why) });
  });

  it('the manifest of the attempt before', async () => {
    await finalize();
    const second = await prepareAttempt({
      ...{ cwd, job: 'job1', attempt: 2, key: newKey() },
      ...{ registryDir: root, brief: '', command: 'stepward' },
    });
    await writeFile(second.manifest, await readFile(paths.manifest));
    const twoKey = await readFile(second.key, 'utf8');
    expect(await verify({ attempt: 2, key: twoKey })).toMatchObject({ valid: false });
    expect(await verify({ attempt: 2 })).toEqual({
      valid: false,
      why: 'manifest.json is of job job1, attempt 1',
    });
  });

  it('a file of another size, without reading it', async () => {
    await finalize({ artifacts: ['out/a.bin'] });
    const huge = 2 ** 42;
    await truncate(join(cwd, 'out', 'a.bin'), huge);
    expect(await verify()).toEqual({ valid: false, why: `out/a.bin has ${huge} bytes, 4 were finalized` });
  });

  it('a working directory that is gone', async () => {
    await finalize();
    await rm(await realpath(cwd), { recursive: true });
    expect(await verify()).toMatchObject({ valid: false, why: expect.stringContaining('no manifest.json') });
  });
});

describe('verifying', () => {
  it('stops when aborted, and says neither valid nor invalid', async () => {
    await finalize({ artifacts: ['out/a.bin'] });
    // Signed by an agent that holds the key: only the signal ends the reading.
    const huge = 2 ** 42;
    await truncate(join(cwd, 'out', 'a.bin'), huge);
    await rewrite(({ files, ...manifest }) => {
      const [report, artifact] = files as object[];
      const { sig: _, ...unsigned } = manifest;
      return { ...unsigned, files: [report, { ...artifact, bytes: huge }] };
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped')), 50);
    await expect(verifyManifest({ cwd, job: 'job1', attempt: 1, key, signal: stop.signal })).rejects.toThrow('stopped');
  });
});
