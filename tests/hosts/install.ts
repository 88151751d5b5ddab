// A Node of a given version out of npm, kept outside the repository for the next time.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FOLDER = join(tmpdir(), 'stepward-nodes');

/** The path of the program. Throws if npm has none that runs here and says this version. */
export function installNode(version: string): string {
  const dir = join(FOLDER, `${version}-${process.platform}-${process.arch}`);
  const program = (at: string) => join(at, 'node_modules', 'node', 'bin', 'node');
  if (says(program(dir)) === `v${version}`) return program(dir);
  // Made whole beside it: two runs at once, or one that was interrupted, must not leave half a Node.
  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }');
    const words = ['install', `node@${version}`, '--save-exact', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', words, { cwd: fresh, stdio: ['ignore', 'ignore', 'inherit'] });
    const said = says(program(fresh));
    if (said !== `v${version}`) throw new Error(`node@${version} of npm says ${said ?? 'nothing'} in ${fresh}`);
    rmSync(dir, { recursive: true, force: true });
    renameSync(fresh, dir);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return program(dir);
}

function says(program: string): string | null {
  if (!existsSync(program)) return null;
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', cwd: dirname(program) });
  return status === 0 ? stdout.trim() : null;
}
