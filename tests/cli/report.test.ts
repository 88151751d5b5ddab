import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { reportMain, reportUsage } from '../../src/cli/report.ts';
import { type AttemptPaths, prepareAttempt } from '../../src/signals/attempt.ts';
import { newKey } from '../../src/signals/signature.ts';
import { tempDirectory } from '../signals/world.ts';
import { run } from './agent-run.ts';

let root: string;
let cwd: string;
let paths: AttemptPaths;

beforeEach(async () => {
  root = await tempDirectory();
  cwd = join(root, 'project');
  await mkdir(cwd);
  const ref = { cwd, job: 'job1', attempt: 1, key: newKey() };
  // There is no registry at all: a report is handed in without one.
  paths = await prepareAttempt({ ...ref, registryDir: join(root, 'none'), brief: '', command: 'stepward' });
  await writeFile(join(cwd, 'notes.md'), '# Notes\n');
});

const report = (...argv: string[]) => run(reportMain, argv, { cwd, env: { STEPWARD_ENV: paths.env } });

describe('report finalize', () => {
  it('takes the attempt’s own report, which then checks', async () => {
    await writeFile(paths.report, '# Done\n');
    const done = await report('finalize');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toMatch(/^finalized \.stepward\/job1\/1\/report\.md \(7 bytes\)\nmanifest sha256 [0-9a-f]{64}\n$/);
    expect(await report('check')).toEqual({
      code: 0,
      out: 'valid: .stepward/job1/1/report.md (7 bytes)\n',
      err: '',
    });
  });

  it('takes another report and artifacts, found from a directory below by --job and --attempt', async () => {
    const below = join(cwd, 'out');
    await mkdir(below);
    await writeFile(join(below, 'a.txt'), 'a');
    const argv = [
      'finalize',
      '--report',
      '../notes.md',
      '--artifact',
      'a.txt',
      '--job',
      'job1',
      '--attempt',
      '1',
      '--json',
    ];
    const { code, out } = await run(reportMain, argv, { cwd: below });
    expect(code).toBe(0);
    const told = JSON.parse(out) as { sha256: string; files: { path: string }[] };
    expect(told).toMatchObject({ job: 'job1', attempt: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(told.files.map(({ path }) => path)).toEqual(['notes.md', 'out/a.txt']);
    expect(JSON.parse((await report('check', '--json')).out)).toEqual({ ...told, valid: true });
  });

  it.each<[string, string[], string]>([
    ['no report', ['finalize'], 'report.md" does not exist'],
    ['a report outside', ['finalize', '--report', '../outside.md'], '--report: "../outside.md" lies outside'],
    ['a link out', ['finalize', '--report', 'link.md'], '--report: "link.md" lies outside'],
    [
      'an artifact that is a directory',
      ['finalize', '--report', 'notes.md', '--artifact', '.stepward'],
      '--artifact: ',
    ],
    ['no action', [], 'ACTION: is missing; allowed: finalize, check'],
    ['an unknown action', ['submit'], 'ACTION: "submit" is unknown; allowed: finalize, check'],
    ['two actions', ['finalize', 'check'], 'ACTION: "check" is one word too many'],
    ['a check with a report', ['check', '--report', 'notes.md'], '--report: does not go with check'],
    ['an option of another command', ['finalize', '--detail', 'x'], "Unknown option '--detail'"],
  ])('refuses %s with exit 64', async (_, argv, sentence) => {
    await writeFile(join(root, 'outside.md'), 'x');
    await symlink('../outside.md', join(cwd, 'link.md'));
    const { code, out, err } = await report(...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(sentence);
    expect(err).toContain('allowed: ');
    expect(await report('check')).toMatchObject({ code: 1 });
  });

  it('is refused with exit 4 when the key is gone', async () => {
    await rm(paths.key);
    expect(await report('finalize', '--report', 'notes.md')).toMatchObject({
      code: 4,
      err: expect.stringContaining('it is removed when the attempt ends'),
    });
  });
});

describe('report check', () => {
  it('says with exit 1 what differs', async () => {
    expect(await report('check')).toMatchObject({ code: 1, err: expect.stringContaining('there is no manifest.json') });
    await report('finalize', '--report', 'notes.md');
    await writeFile(join(cwd, 'notes.md'), '# Other\n');
    expect(await report('check')).toEqual({
      code: 1,
      out: '',
      err: 'invalid: notes.md has changed since it was finalized (its sha256 differs)\n',
    });
    const { code, out } = await report('check', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ valid: false, why: expect.stringContaining('notes.md') });
  });

  it('helps', async () => {
    expect(await run(reportMain, ['-h'], { cwd: '/' })).toEqual({ code: 0, out: reportUsage, err: '' });
  });

  it('runs as a process of the bundle', async () => {
    await report('finalize', '--report', 'notes.md');
    const bin = resolve(import.meta.dirname, '../../dist/stepward.cjs');
    const env = { ...process.env, STEPWARD_ENV: paths.env };
    const { stdout } = await promisify(execFile)(process.execPath, [bin, 'report', 'check'], { cwd: root, env });
    expect(stdout).toBe('valid: notes.md (8 bytes)\n');
  });
});
