// The quickstart's last line must be true: the commit it names passes its tests, and some failed before.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const last = readFileSync(process.argv[2], 'utf8').trim().split('\n').at(-1);
const { result, repo, commit, testsBefore } = JSON.parse(last);
const git = (...args) => spawnSync('git', ['-C', repo, ...args], { encoding: 'utf8' });
const problems = [];
if (result !== 'completed') problems.push(`result is ${result}`);
if (!(testsBefore.failed > 0)) problems.push('no test failed before');
if (git('rev-parse', 'HEAD').stdout.trim() !== commit) problems.push('the commit is not the head');
if (git('status', '--porcelain').stdout !== '') problems.push('the work tree is not clean');
if (spawnSync(process.execPath, ['--test'], { cwd: repo }).status !== 0) problems.push('its tests fail');
for (const problem of problems) console.error(`quickstart: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
