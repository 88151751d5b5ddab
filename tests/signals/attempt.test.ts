import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  attemptPaths,
  type Preparation,
  prepareAttempt,
  removeKey,
  writeBusAddress,
} from '../../src/signals/attempt.ts';
import { AttemptError } from '../../src/signals/errors.ts';
import { tempDirectory } from './world.ts';

const preparation = (cwd: string): Preparation => ({
  cwd,
  job: 'job1',
  attempt: 1,
  key: 'k'.repeat(64),
  registryDir: '/somewhere/registry',
  brief: 'Mend the test.',
  command: 'stepward',
});

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function repository(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  git(dir, 'init', '--quiet');
  await writeFile(join(dir, 'a.txt'), 'a\n');
  git(dir, 'add', '.');
  git(dir, 'commit', '--quiet', '--message', 'first');
  return dir;
}

describe('an attempt’s directory', () => {
  it('holds the brief, the environment, the key and the empty spool', async () => {
    const cwd = await tempDirectory();
    const paths = await prepareAttempt(preparation(cwd));
    expect(paths.dir).toBe(join(cwd, '.stepward', 'job1', '1'));
    expect((await readdir(paths.dir)).sort()).toEqual(['brief.md', 'env.json', 'key', 'seq', 'spool']);
    expect(await readFile(paths.brief, 'utf8')).toBe('Mend the test.');
    expect(JSON.parse(await readFile(paths.env, 'utf8'))).toEqual({
      schema: 'stepward.env/1',
      job: 'job1',
      attempt: 1,
      cwd,
      registryDir: '/somewhere/registry',
      command: 'stepward',
      ways: ['inbox', 'bus', 'spool'],
    });
    expect(await readFile(paths.key, 'utf8')).toBe('k'.repeat(64));
    expect((await stat(paths.key)).mode & 0o777).toBe(0o600);
  });

  it('is made again by a second driver: the brief anew, everything an agent made kept', async () => {
    const cwd = await tempDirectory();
    const paths = await prepareAttempt(preparation(cwd));
    await writeFile(paths.report, 'my report');
    await writeFile(join(paths.spool, '1-a.json'), '{}');
    await writeFile(join(paths.seq, '1'), '');
    await writeFile(paths.key, 'damaged');
    await prepareAttempt({ ...preparation(cwd), brief: 'The same, said again.' });
    expect(await readFile(paths.brief, 'utf8')).toBe('The same, said again.');
    expect(await readFile(paths.key, 'utf8')).toBe('k'.repeat(64));
    expect((await stat(paths.key)).mode & 0o777).toBe(0o600);
    expect(await readFile(paths.report, 'utf8')).toBe('my report');
    expect(await readdir(paths.spool)).toEqual(['1-a.json']);
    expect(await readdir(paths.seq)).toEqual(['1']);
  });

  it('keeps the address of the bus that was written meanwhile by somebody who knew it first', async () => {
    const address = { url: 'mqtt://127.0.0.1:1', credentials: null, tls: {}, prefix: 'p', protocol: 4 } as const;
    const paths = await prepareAttempt(preparation(await tempDirectory()));
    await writeBusAddress(paths, address);
    await prepareAttempt(preparation(paths.dir.replace(/\/\.stepward.*/, '')));
    expect(JSON.parse(await readFile(paths.bus, 'utf8'))).toEqual(address);
    expect((await stat(paths.bus)).mode & 0o777).toBe(0o600);
  });

  it('can be prepared by two drivers at once', async () => {
    const cwd = await repository(await tempDirectory());
    await Promise.all(Array.from({ length: 8 }, () => prepareAttempt(preparation(cwd))));
    const { dir } = attemptPaths({ cwd, job: 'job1', attempt: 1 });
    expect((await readdir(dir)).sort()).toEqual(['brief.md', 'env.json', 'key', 'seq', 'spool']);
  });

  it('loses its key when the attempt ends, more than once without harm', async () => {
    const paths = await prepareAttempt(preparation(await tempDirectory()));
    await removeKey(paths);
    await removeKey(paths);
    expect(await readdir(paths.dir)).not.toContain('key');
  });

  it('ends without its key where the agent put a file in the place of a directory', async () => {
    const cwd = await tempDirectory();
    const paths = await prepareAttempt(preparation(cwd));
    await rm(join(cwd, '.stepward'), { recursive: true });
    await writeFile(join(cwd, '.stepward'), 'mine');
    await removeKey(paths);
  });

  it.each([
    ['.stepward'],
    [join('.stepward', 'job1')],
    [join('.stepward', 'job1', '1')],
    [join('.stepward', 'job1', '1', 'spool')],
  ])('is refused where %s is a link: the key would lie where it points', async (link) => {
    const root = await tempDirectory();
    const [cwd, elsewhere] = [join(root, 'cwd'), join(root, 'elsewhere')];
    await mkdir(elsewhere);
    await mkdir(join(cwd, link, '..'), { recursive: true });
    await symlink(elsewhere, join(cwd, link));
    await expect(prepareAttempt(preparation(cwd))).rejects.toThrow(AttemptError);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it.each(['..', '', 'a/b', '.x', '-x'])('is refused for the job name %j', async (job) => {
    const cwd = await tempDirectory();
    await expect(prepareAttempt({ ...preparation(cwd), job })).rejects.toMatchObject({ problem: 'unusable' });
    expect(await readdir(cwd)).toEqual([]);
  });

  it('is refused, with the directory named, in a working directory that is not there', async () => {
    const cwd = join(await tempDirectory(), 'gone');
    await expect(prepareAttempt(preparation(cwd))).rejects.toThrow(cwd);
  });
});

describe('git does not see it', () => {
  const untracked = (cwd: string) => git(cwd, 'status', '--porcelain', '--untracked-files=all');

  it('in a repository, listed once, with no file of the repository touched', async () => {
    const cwd = await repository(await tempDirectory());
    await writeFile(join(cwd, '.git', 'info', 'exclude'), '*.log');
    await prepareAttempt(preparation(cwd));
    await prepareAttempt({ ...preparation(cwd), attempt: 2 });
    expect(untracked(cwd)).toBe('');
    expect(await readFile(join(cwd, '.git', 'info', 'exclude'), 'utf8')).toBe('*.log\n.stepward/\n');
    git(cwd, 'add', '--all');
    expect(git(cwd, 'diff', '--cached', '--name-only')).toBe('');
  });

  it('in a directory below the top, and in a repository without info/', async () => {
    const top = await repository(await tempDirectory());
    await rm(join(top, '.git', 'info'), { recursive: true });
    const cwd = join(top, 'packages', 'x');
    await mkdir(cwd, { recursive: true });
    await prepareAttempt(preparation(cwd));
    expect(untracked(top)).toBe('');
  });

  it('in a worktree, whose excludes are the main repository’s', async () => {
    const root = await tempDirectory();
    const main = await repository(join(root, 'main'));
    const cwd = join(root, 'tree');
    git(main, 'worktree', 'add', '--quiet', cwd);
    await prepareAttempt(preparation(cwd));
    expect(untracked(cwd)).toBe('');
    expect(await readFile(join(main, '.git', 'info', 'exclude'), 'utf8')).toMatch(/^\.stepward\/$/m);
  });

  it('in a submodule, whose excludes are its own', async () => {
    const root = await tempDirectory();
    const inner = await repository(join(root, 'inner'));
    const outer = await repository(join(root, 'outer'));
    git(outer, 'submodule', '--quiet', 'add', inner, 'sub');
    git(outer, 'commit', '--quiet', '--message', 'sub');
    const cwd = join(outer, 'sub');
    await prepareAttempt(preparation(cwd));
    expect(untracked(cwd)).toBe('');
    expect(untracked(outer)).toBe('');
  });

  it('even if the driver was started from a hook of another repository', async () => {
    const root = await tempDirectory();
    const other = await repository(join(root, 'other'));
    const cwd = await repository(join(root, 'mine'));
    vi.stubEnv('GIT_DIR', join(other, '.git'));
    try {
      await prepareAttempt(preparation(cwd));
    } finally {
      vi.unstubAllEnvs();
    }
    expect(untracked(cwd)).toBe('');
    expect(await readFile(join(other, '.git', 'info', 'exclude'), 'utf8')).not.toContain('.stepward/');
  });

  it('or the attempt is refused, unless the repository ignores it by itself', async () => {
    const cwd = await repository(await tempDirectory());
    await rm(join(cwd, '.git', 'info'), { recursive: true });
    await writeFile(join(cwd, '.git', 'info'), 'in the way');
    await expect(prepareAttempt(preparation(cwd))).rejects.toThrow(/would show in the diff/);
    await writeFile(join(cwd, '.gitignore'), '.stepward/\n');
    await prepareAttempt(preparation(cwd));
  });

  it('and outside git nothing is looked for', async () => {
    const cwd = await tempDirectory();
    await prepareAttempt(preparation(cwd));
    expect(await readdir(cwd)).toEqual(['.stepward']);
  });
});
