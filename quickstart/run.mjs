// The main job on a fresh clone: a small project with a failing test is delegated to a scripted agent, which repairs it.
// Set-up included. People read stderr; the last line of stdout is JSON. The repository is kept.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const say = (line) => process.stderr.write(`${line}\n`);

function run(cwd, file, ...args) {
  const done = spawnSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (done.error) throw done.error;
  return { status: done.status, stdout: done.stdout };
}

function must(cwd, file, ...args) {
  const { status, stdout } = run(cwd, file, ...args);
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} ended with ${status}`);
  return stdout.trim();
}

const tests = (repo) => {
  const { stdout } = run(repo, process.execPath, '--test', '--test-reporter=tap');
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1]);
  return { passed: count('pass'), failed: count('fail') };
};

if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
  say('setting up: npm ci');
  must(root, 'npm', 'ci', '--no-audit', '--no-fund');
}
say('building');
must(root, process.execPath, 'build.mjs');

const repo = mkdtempSync(join(tmpdir(), 'stepward-quickstart-'));
cpSync(join(root, 'quickstart', 'project'), repo, { recursive: true });
must(repo, 'git', 'init', '-q', '-b', 'main');
must(repo, 'git', 'add', '.');
const author = ['-c', 'user.name=Quickstart', '-c', 'user.email=quickstart@localhost'];
must(repo, 'git', ...author, 'commit', '-qm', 'A price list');

const testsBefore = tests(repo);
say(`a project with ${testsBefore.failed} failing tests: ${repo}`);

const stepward = join(root, 'dist', 'stepward.cjs');
const task = 'The tests of this project fail. Repair the code, not the tests, and commit.';
const agent = [process.execPath, join(root, 'quickstart', 'agent.mjs')];
const args = ['delegate', '--agent', 'command', '--prompt', task, '--timeout', '5m', '--json', '--', ...agent];
const delegated = run(repo, process.execPath, stepward, ...args);
const { status: result } = JSON.parse(delegated.stdout.trim().split('\n').at(-1));

const commit = must(repo, 'git', 'rev-parse', 'HEAD');
const testsAfter = tests(repo);
say(`look around: cd "${repo}" && git show && node "${stepward}" logs @last`);
process.stdout.write(`${JSON.stringify({ result, repo, commit, testsBefore, testsAfter })}\n`);
process.exitCode = delegated.status === 0 && testsAfter.failed === 0 ? 0 : 1;
