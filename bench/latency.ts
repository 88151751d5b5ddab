// From the moment an agent's `completed` is in the inbox to the result on the caller's terminal.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/kernel/clock.ts';
import { openSqliteRegistry } from '../src/registry/sqlite/open.ts';
import { type Finding, ms, percentile } from './stats.ts';
import { stepwardFile } from './workplace.ts';

const RUNS = 40;

/** The last thing the agent does is to become `emit completed`: nothing of its own comes after it. */
const AGENT = `command=$(sed -n 's/.*\`\\(.*\\) emit started.*/\\1/p' "$STEPWARD_BRIEF" | head -n 1)
echo "# Report" > report.md
eval "exec $command emit completed --report report.md"`;

export async function measureLatency(): Promise<Finding[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'stepward-bench-'));
  try {
    writeFileSync(join(cwd, 'agent.sh'), AGENT);
    const samples: number[] = [];
    for (let run = 0; run < RUNS; run++) samples.push(await once(cwd));
    return [
      {
        what: 'Agent’s `completed` in the inbox → result on the caller’s terminal',
        ours: `p50 ${ms(percentile(samples, 50))}, p99 ${ms(percentile(samples, 99))}`,
        peer: 'the original polls at 1000 ms',
        ratio: `p50 ${(percentile(samples, 50) / 1000).toFixed(3)} ×`,
        aim: 'p50 ≤ 50 ms',
      },
    ];
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function once(cwd: string): Promise<number> {
  const args = [stepwardFile, 'delegate', '--agent', 'command', '--prompt', 'bench', '--json', '--', 'sh', 'agent.sh'];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  const printed = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
      if (out.endsWith('\n')) resolve(Date.now());
    });
    child.once('exit', (code) => reject(new Error(`delegate ended with ${code}`)));
  });
  await new Promise((resolve) => child.once('close', resolve));
  const { id } = JSON.parse(out) as { id: string };
  const registry = await openSqliteRegistry({ dir: join(cwd, '.stepward'), clock: systemClock, readonly: true });
  const completed = (await registry.log({ job: id })).find(
    ({ what, verdict }) => what === 'completed' && verdict === 'take',
  );
  const envelope = completed && (completed.data as { id: string }).id;
  const received = envelope && (await registry.inboxRow(envelope))?.receivedAt;
  await registry.close();
  if (!received) throw new Error(`the log of ${id} has no completed`);
  return printed - received;
}
