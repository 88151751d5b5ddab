#!/usr/bin/env node
// A scripted agent: what a coding agent does with a brief, without a model. It reads the brief, runs the project's tests, mends
// the function they complain about, runs them again, commits, and reports by `stepward emit`, like any other agent.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const brief = readFileSync(process.env.STEPWARD_BRIEF, 'utf8');
const command = /`(.+) emit started/.exec(brief)?.[1];
if (!command) throw new Error('the brief does not say how to report');

const emit = (event, ...rest) => {
  const address = ['--job', process.env.STEPWARD_JOB, '--attempt', process.env.STEPWARD_ATTEMPT];
  const call = [`${command} emit "$@"`, 'emit', event, ...address, ...rest];
  const { status, stderr } = spawnSync('sh', ['-c', ...call], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`emit ${event} answered ${status}: ${stderr}`);
};
const run = (file, ...args) => spawnSync(file, args, { encoding: 'utf8' });
const failing = () => /^# fail (\d+)$/m.exec(run('node', '--test', '--test-reporter=tap').stdout)?.[1];

emit('started');
const before = failing();
emit('progress', '--detail', `${before} failing tests; reading src/parse.js`);

const file = 'src/parse.js';
const mended = readFileSync(file, 'utf8').replace(
  / {2}const \[euros, cents\].*\n.*\n/,
  [
    "  const [euros, cents = ''] = amount.split(',');",
    "  return { name: name.trim(), cents: Number(euros) * 100 + Number(cents.padEnd(2, '0')) };",
    '',
  ].join('\n'),
);
writeFileSync(file, mended);

const after = failing();
if (after !== '0') {
  emit('failed', '--detail', `${after} tests still fail`);
  process.exit(1);
}
run('git', 'add', file);
const author = ['-c', 'user.name=Scripted agent', '-c', 'user.email=agent@localhost'];
const commit = run('git', ...author, 'commit', '-m', 'Read amounts without cents and with one digit of cents');
if (commit.status !== 0) throw new Error(commit.stderr);
emit('progress', '--detail', 'all tests pass; committed');

const report = join(dirname(process.env.STEPWARD_BRIEF), 'report.md');
writeFileSync(
  report,
  `# Report\n\n\`parseLine\` lost amounts without cents and read \`0,5\` as five cents. Both are mended in ${file}.\n\nTests: ${before} failing before, ${after} after.\n`,
);
emit('completed', '--report', report);
