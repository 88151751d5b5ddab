// `stepward emit progress` with its outcome, as a whole process, against bare `node -e 0` in the same run.
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { type Finding, ms, percentile, times } from './stats.ts';
import { humanJob, stepwardFile } from './workplace.ts';

const RUNS = 60;

const timed = (args: string[], cwd: string, env: NodeJS.ProcessEnv): number => {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
};

export async function measureEmit(): Promise<Finding[]> {
  const job = await humanJob();
  // On Node 20 this variable alone adds some 30 ms to every start, ours and the bare one's.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const bare: number[] = [];
  const emit: number[] = [];
  try {
    for (let run = 0; run < RUNS + 5; run++) {
      const first = timed(['-e', '0'], job.cwd, env);
      const address = ['--job', job.id, '--attempt', '1'];
      const second = timed([stepwardFile, 'emit', 'progress', ...address, '--detail', `step ${run}`], job.cwd, env);
      if (run < 5) continue; // warm-up: page cache, first writes
      bare.push(first);
      emit.push(second);
    }
  } finally {
    await job.end();
  }
  return [
    {
      what: '`stepward emit progress`, committed by a live driver, whole process, p50',
      ours: ms(percentile(emit, 50)),
      peer: `bare node ${ms(percentile(bare, 50))}`,
      ratio: times(percentile(emit, 50) / percentile(bare, 50)),
      aim: '≤ 2.5 ×',
    },
  ];
}
