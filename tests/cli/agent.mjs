// A scripted agent for `--agent command`: does what its arguments say, one after the other, by the commands of its brief.
//   node agent.mjs BRIEF STEP…   started · progress=TEXT · completed · failed=TEXT · hang · until=FILE · exit=CODE
// Each start leaves its pid in `starts` of the working directory, so that a test can count and end what it started.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [brief, ...steps] = process.argv.slice(2);
appendFileSync('starts', `${process.pid}\n`);
const text = readFileSync(brief, 'utf8');

/** The brief's command for an event, up to the options that this script gives by itself. */
function emit(event, ...options) {
  const line = new RegExp(`\`([^\`]* emit ${event} [^\`]*)\``).exec(text)[1];
  // By a shell, as agents do: the paths in it may be quoted.
  execFileSync('sh', ['-c', `${line.split(/ --(?:detail|report) /)[0]} "$@"`, 'sh', ...options], { stdio: 'inherit' });
}

for (const step of steps) {
  const [name, value = ''] = step.split(/=(.*)/s);
  if (name === 'started') emit('started');
  else if (name === 'progress') emit('progress', '--detail', value);
  else if (name === 'failed') emit('failed', '--detail', value);
  else if (name === 'completed') {
    writeFileSync('report.md', '# Done\n\nAll of it.\n');
    emit('completed', '--report', 'report.md');
  } else if (name === 'exit') process.exit(Number(value));
  else if (name === 'hang') setInterval(() => {}, 60_000);
  else if (name === 'until') while (!existsSync(value)) await sleep(20);
  else throw new Error(`no such step: ${step}`);
}
