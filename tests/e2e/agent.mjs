// An agent for end-to-end tests: says in a file that it was started, then does what its first argument says.
// Real processes, the real `stepward emit` out of the brief.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [behaviour = 'completes', countFile] = process.argv.slice(2);
if (countFile) appendFileSync(countFile, `${process.pid}\n`);

const { STEPWARD_BRIEF: brief, STEPWARD_JOB: job, STEPWARD_ATTEMPT: attempt } = process.env;
const dir = dirname(brief);
const command = /`(.+) emit started/.exec(readFileSync(brief, 'utf8'))[1];

function emit(event, ...rest) {
  const line = [`${command} emit "$@"`, 'emit', event, '--job', job, '--attempt', attempt, ...rest];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', ...line], { encoding: 'utf8' });
  process.stdout.write(`emit ${event}: ${status} ${stdout}${stderr}\n`);
  return status;
}

const report = join(dir, 'report.md');
function complete() {
  writeFileSync('result.txt', 'done\n');
  writeFileSync(report, '# Report\n\nresult.txt is written.\n');
  return emit('completed', '--report', report, '--artifact', 'result.txt');
}

/** Until somebody ends this process, or the test's own file says so: no agent outlives its test by more than this. */
async function idle(while_ = () => true) {
  const until = Date.now() + 120_000;
  while (Date.now() < until && while_()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const BEHAVIOURS = {
  completes() {
    emit('started');
    emit('progress', '--detail', 'half way');
    complete();
  },
  fails() {
    emit('failed', '--detail', 'it cannot be done');
  },
  exitsSilently() {},
  exitsWithThree() {
    process.exitCode = 3;
  },
  silent: () => idle(),
  async completesThenStays() {
    complete();
    await idle();
  },
  altersItsReport() {
    complete();
    writeFileSync(report, '# Report\n\nSomething else.\n');
  },
  removesItsArtifact() {
    complete();
    rmSync('result.txt');
  },
  completesTwice() {
    process.exitCode = complete() + emit('completed');
  },
  completesThenFails() {
    complete();
    process.exitCode = emit('failed', '--detail', 'changed my mind') === 4 ? 0 : 9;
  },
  async waitsForFile() {
    emit('started');
    await idle(() => !existsSync('go'));
    complete();
  },
  async asksAndWaits() {
    emit('started');
    emit('permission_required', '--detail', 'may I?');
    await idle();
  },
};

await BEHAVIOURS[behaviour]();
