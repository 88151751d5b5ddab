// How long a command takes from its start to its end, with a host of the registry running and without one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Finding, ms, percentile, times } from './stats.ts';
import { stepwardFile } from './workplace.ts';

const RUNS = 15;
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

export async function measureHost(): Promise<Finding[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'stepward-bench-'));
  const stepward = (...args: string[]): string =>
    execFileSync(process.execPath, [stepwardFile, ...args], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const timed = (...args: string[]): number => {
    const begun = performance.now();
    stepward(...args);
    return performance.now() - begun;
  };
  const detach = ['delegate', '--detach', '--agent', 'human', '--prompt', 'bench'];
  const samples = {
    bare: [] as number[],
    ps: [] as number[],
    psHost: [] as number[],
    cold: [] as number[],
    warm: [] as number[],
  };
  try {
    for (let run = 0; run < RUNS; run++) {
      samples.cold.push(timed(...detach)); // starts the host
      samples.warm.push(timed(...detach));
      samples.psHost.push(timed('ps'));
      stepward('host', '--stop');
      samples.ps.push(timed('ps'));
      const begun = performance.now();
      execFileSync(process.execPath, ['-e', '0'], { env });
      samples.bare.push(performance.now() - begun);
      for (const id of stepward('ps', '--json')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id))
        stepward('cancel', id);
    }
  } finally {
    stepward('host', '--stop');
    rmSync(cwd, { recursive: true, force: true });
  }
  const p50 = Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [name, percentile(values, 50)]),
  ) as Record<keyof typeof samples, number>;
  const finding = (what: string, ours: number, peer: string, ratio: number): Finding => ({
    what,
    ours: ms(ours),
    peer: `${peer}`,
    ratio: times(ratio),
    aim: '–',
  });
  return [
    finding(
      '`stepward ps`, a host running, whole process, p50',
      p50.psHost,
      `no host ${ms(p50.ps)}; bare node ${ms(p50.bare)}`,
      p50.psHost / p50.ps,
    ),
    finding(
      '`delegate --detach` until a host drives it, host running, p50',
      p50.warm,
      `host started for it ${ms(p50.cold)}`,
      p50.warm / p50.cold,
    ),
  ];
}
