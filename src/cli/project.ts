// Where this project begins and ends, and where its registry lives (docs/design.md section 6).
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { REGISTRY_FILE } from '../registry/sqlite/files.ts';
import { theConfigOf } from './config/names.ts';
import { UsageError } from './errors.ts';

export interface Project {
  cwd: string;
  /** The work tree's root; null outside git, and in a bare repository. */
  root: string | null;
  gitCommonDir: string | null;
  configFile: string | null;
}

/** Throws UsageError where two configs lie side by side. */
export async function findProject(start: string, environment: NodeJS.ProcessEnv): Promise<Project> {
  // git answers with real paths; a symlink above us would otherwise hide the repository's root from the search for configs.
  const cwd = await realpath(start);
  const [gitCommonDir, root] = await Promise.all([
    git(cwd, environment, '--git-common-dir'),
    git(cwd, environment, '--show-toplevel'),
  ]);
  return { cwd, root, gitCommonDir, configFile: await nearestConfig(cwd, root) };
}

/** Null: git is not installed, or this is not one of its places. */
async function git(cwd: string, environment: NodeJS.ProcessEnv, what: string): Promise<string | null> {
  try {
    const args = ['rev-parse', '--path-format=absolute', what];
    const { stdout } = await promisify(execFile)('git', args, { cwd, env: environment });
    return stdout.replace(/\n$/, '') || null;
  } catch {
    return null;
  }
}

/** Up to the repository's root and no further: a stranger's config above it must not start commands here. */
async function nearestConfig(cwd: string, root: string | null): Promise<string | null> {
  for (const dir of upwards(cwd)) {
    const file = theConfigOf(dir, await readdir(dir).catch(() => []));
    if (file) return file;
    if (dir === root) return null;
  }
  return null;
}

function* upwards(from: string): Generator<string> {
  for (let dir = from; ; dir = dirname(dir)) {
    yield dir;
    if (dir === dirname(dir)) return;
  }
}

export type RegistrySource = '--registry' | 'STEPWARD_REGISTRY' | 'config' | 'git' | 'nearby' | 'here';
export interface RegistryPlace {
  dir: string;
  source: RegistrySource;
}

/** Throws UsageError. Before anything is opened: SQLite's own words for it name no option. */
export function requireUsable({ dir, source }: RegistryPlace): void {
  const option = source === 'config' ? 'config: registry' : source;
  const bad = (value: string, problem: string, allowed: string) => new UsageError({ option, value, problem, allowed });
  const directory = 'a directory, which may be missing';
  const found = look(dir, (problem) => bad(dir, problem, directory));
  if (!found) return;
  if (!found.isDirectory()) throw bad(dir, 'is not a directory', directory);
  const file = join(dir, REGISTRY_FILE);
  const inIt = 'a directory whose registry.db is a registry or missing';
  const database = look(file, (problem) => bad(file, problem, inIt));
  if (database?.isDirectory()) throw bad(file, 'is a directory', inIt);
  if (database && !database.isFile()) throw bad(file, 'is not a file', inIt);
}

/** Null: there is nothing. */
function look(path: string, bad: (problem: string) => UsageError): Stats | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found) return found;
    if (!lstatSync(path, { throwIfNoEntry: false })) return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw bad(code === 'ENOTDIR' ? 'lies below something that is not a directory' : `cannot be used (${code})`);
  }
  throw bad('is a symlink to nothing');
}

export interface RegistryWishes {
  flag?: string | undefined;
  variable?: string | undefined;
  /** The config's `registry`, relative to the file it stands in. */
  config?: string | undefined;
}

/** In this order: flag, environment, config, git's common directory, what lies above, this directory. Creates nothing. */
export function registryPlace(project: Project, wishes: RegistryWishes): RegistryPlace {
  const { cwd, configFile, gitCommonDir } = project;
  if (wishes.flag) return { dir: absolute(cwd, wishes.flag), source: '--registry' };
  if (wishes.variable) return { dir: absolute(cwd, wishes.variable), source: 'STEPWARD_REGISTRY' };
  if (wishes.config) return { dir: absolute(configFile ? dirname(configFile) : cwd, wishes.config), source: 'config' };
  if (gitCommonDir) return { dir: join(gitCommonDir, 'stepward'), source: 'git' };
  for (const dir of upwards(cwd)) {
    const here = join(dir, '.stepward');
    if ((configFile && dirname(configFile) === dir) || existsSync(join(here, REGISTRY_FILE))) {
      return { dir: here, source: 'nearby' };
    }
  }
  return { dir: join(cwd, '.stepward'), source: 'here' };
}

/** The shell expands `~` in words, not in YAML: without this a directory called `~` would appear. */
const absolute = (base: string, path: string): string =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(base, path);
