import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject, type RegistryWishes, registryPlace } from '../../src/cli/project.ts';
import { everything, freshDir } from './inside.ts';

const env = { PATH: process.env.PATH, HOME: process.env.HOME };
const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env, stdio: 'pipe' });

async function placeOf(cwd: string, wishes: RegistryWishes = {}) {
  return registryPlace(await findProject(cwd, env), wishes);
}

function below(dir: string, ...names: string[]): string {
  const path = join(dir, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('where the registry lives', () => {
  it('prefers the flag, then the variable, then the config, and resolves each from where it was written', async () => {
    const dir = freshDir();
    writeFileSync(join(dir, 'stepward.config.yaml'), '');
    const sub = below(dir, 'sub');
    const all = { flag: 'f', variable: 'v', config: 'c' };
    expect(await placeOf(sub, all)).toEqual({ dir: join(sub, 'f'), source: '--registry' });
    expect(await placeOf(sub, { ...all, flag: undefined })).toEqual({
      dir: join(sub, 'v'),
      source: 'STEPWARD_REGISTRY',
    });
    expect(await placeOf(sub, { config: 'c' })).toEqual({ dir: join(dir, 'c'), source: 'config' });
    expect((await placeOf(sub, { config: '~/x' })).dir).toBe(join(homedir(), 'x'));
  });

  it('is in git’s common directory, the same one for every worktree', async () => {
    const dir = freshDir();
    const repo = below(dir, 'repo');
    git(repo, 'init', '-q');
    git(repo, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '--allow-empty', '-m', 'x');
    git(repo, 'worktree', 'add', '-q', join(dir, 'tree'));
    const expected = { dir: join(repo, '.git', 'stepward'), source: 'git' };
    expect(await placeOf(below(repo, 'a', 'b'))).toEqual(expected);
    expect(await placeOf(join(dir, 'tree'))).toEqual(expected);
  });

  it('outside git is beside the nearest config, or where a registry is already, or here', async () => {
    const dir = freshDir();
    const sub = below(dir, 'a', 'b');
    expect(await placeOf(sub)).toEqual({ dir: join(sub, '.stepward'), source: 'here' });
    writeFileSync(join(below(dir, 'a', '.stepward'), 'registry.db'), '');
    expect(await placeOf(sub)).toEqual({ dir: join(dir, 'a', '.stepward'), source: 'nearby' });
    writeFileSync(join(sub, 'stepward.config.json'), '{}');
    expect(await placeOf(sub)).toEqual({ dir: join(sub, '.stepward'), source: 'nearby' });
  });

  it('creates nothing while it looks', async () => {
    const dir = freshDir();
    await placeOf(dir);
    expect(everything(dir)).toEqual([]);
  });
});

describe('which config counts', () => {
  it('is the nearest one, up to the repository’s root and no further', async () => {
    const dir = freshDir();
    writeFileSync(join(dir, 'stepward.config.yaml'), '');
    const repo = below(dir, 'repo');
    const sub = below(repo, 'sub');
    expect((await findProject(sub, env)).configFile).toBe(join(dir, 'stepward.config.yaml'));
    git(repo, 'init', '-q');
    expect((await findProject(sub, env)).configFile).toBeNull();
    writeFileSync(join(repo, 'stepward.config.ts'), '');
    expect((await findProject(sub, env)).configFile).toBe(join(repo, 'stepward.config.ts'));
  });

  it('stops at the root also when we came through a symlink', async () => {
    const dir = freshDir();
    writeFileSync(join(dir, 'stepward.config.yaml'), '');
    const repo = below(dir, 'real', 'repo');
    git(repo, 'init', '-q');
    symlinkSync(repo, join(dir, 'link'));
    expect((await findProject(join(dir, 'link'), env)).configFile).toBeNull();
  });

  it('is none where two lie side by side', async () => {
    const dir = freshDir();
    writeFileSync(join(dir, 'stepward.config.yaml'), '');
    writeFileSync(join(dir, 'stepward.config.json'), '{}');
    await expect(findProject(dir, env)).rejects.toThrow(/stepward.config.yaml and stepward.config.json/);
  });

  it('needs no git', async () => {
    const dir = freshDir();
    const project = await findProject(dir, { PATH: dir });
    expect(project).toEqual({ cwd: dir, root: null, gitCommonDir: null, configFile: null });
  });
});
