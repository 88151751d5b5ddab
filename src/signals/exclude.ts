// Keeps the attempt's directory out of every diff, commit and reviewed tree, without touching a file that is committed.
// node:child_process, not execa: `emit` shares this folder and must start fast.
import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AttemptError } from './errors.ts';
import { reasonOf } from './files.ts';

/** Adds `<directory>/` to info/exclude of the git common directory, once; worktrees and submodules find their own. Does nothing
 *  outside a git work tree. Throws AttemptError if git would show the directory and we cannot help it. */
export async function excludeFromGit(cwd: string, directory: string): Promise<void> {
  const found = await git(cwd, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  // No git here, or not a repository, or one this user's git refuses to read, which then shows nothing either.
  if (found === null) return;
  const info = join(found.trimEnd(), 'info');
  const file = join(info, 'exclude');
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present.split(/\r?\n/).includes(`${directory}/`)) return;
  try {
    await mkdir(info, { recursive: true });
    const lineBreak = present === '' || present.endsWith('\n') ? '' : '\n';
    // One append: two drivers at once write the line twice, never half.
    await appendFile(file, `${lineBreak}${directory}/\n`);
  } catch (error) {
    const ignored = await git(cwd, ['check-ignore', '--quiet', '--no-index', `${directory}/x`]);
    if (ignored !== null) return;
    const what = `${directory}/ would show in the diff, and ${file} cannot be written: ${reasonOf(error)}`;
    throw new AttemptError('unusable', what, { cause: error });
  }
}

/** A hook's environment (GIT_DIR, …) would point git to another repository than that of `cwd`. */
const withoutGit = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

/** Null: git is missing, or said no. */
function git(cwd: string, args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env: withoutGit(), timeout: 10_000 }, (error, stdout) =>
      resolve(error ? null : stdout),
    );
  });
}
