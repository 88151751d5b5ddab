// Finds the program of a command line the way execvp does, so that preflight refuses what the launcher could not start.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { PlaceError } from './transport.ts';

/** Throws PlaceError unless the path is a directory. */
export function requireDirectory(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return;
  const seen = stat ? 'is not a directory' : 'does not exist';
  throw new PlaceError(`the working directory ${path} ${seen}; name an existing directory (--cwd)`);
}

/**
 * The absolute path of `command`: as it stands, relative to `cwd` if it holds a slash, else the first executable file of that
 * name in `searchPath` (PATH of the agent's environment, not ours). Throws PlaceError.
 */
export function resolveCommand(command: string, cwd: string, searchPath: string | undefined): string {
  if (command.includes('/')) {
    const path = resolve(cwd, command);
    const why = whyNot(path);
    if (why === null) return path;
    const where = isAbsolute(command) ? '' : ` (looked for in the working directory, ${cwd})`;
    throw new PlaceError(`the agent's command ${command} ${why}${where}; ${remedy(why, path)}`);
  }
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = folders.map((folder) => resolve(cwd, folder, command));
  const found = paths.find((path) => whyNot(path) === null);
  if (found !== undefined) return found;
  const blocked = paths.find((path) => whyNot(path) === NOT_EXECUTABLE);
  if (blocked)
    throw new PlaceError(`the agent's command ${blocked} ${NOT_EXECUTABLE}; ${remedy(NOT_EXECUTABLE, blocked)}`);
  const where = folders.length > 0 ? 'in the PATH' : 'nowhere, as its environment has no PATH';
  throw new PlaceError(
    `the agent's command ${command} was looked for ${where} and was not found; install it, or delegate again with its absolute path`,
  );
}

const NOT_EXECUTABLE = 'is not executable';

function whyNot(path: string): string | null {
  try {
    if (!statSync(path).isFile()) return 'is not a file';
    accessSync(path, constants.X_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? NOT_EXECUTABLE : 'does not exist';
  }
}

const remedy = (why: string, path: string): string =>
  why === NOT_EXECUTABLE
    ? `make it so: chmod +x ${path}`
    : 'delegate again with a command that exists (a job keeps the one it was registered with)';
