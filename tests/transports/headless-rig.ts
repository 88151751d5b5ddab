// One temp directory with everything a headless run needs, and the questions tests ask of it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { systemClock } from '../../src/kernel/clock.ts';
import { createHeadless } from '../../src/transports/headless/headless.ts';
import type { HeadlessOptions } from '../../src/transports/headless/parts.ts';
import type { Fence, Place, Transport } from '../../src/transports/transport.ts';
import type { Rig } from './conformance.ts';
import { endLeftovers } from './leaks.ts';

/** Bundled for this test file alone: dist/ may be built anew by another test run while ours starts launchers from it. */
const bundle = await esbuild.build({
  entryPoints: [fileURLToPath(new URL('../../src/transports/headless/launcher.ts', import.meta.url))],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
export const agent = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/agents/${name}.sh`, import.meta.url));

export interface HeadlessRig extends Rig {
  dir: string;
  options: HeadlessOptions;
  transportWith(options: Partial<HeadlessOptions>): Transport;
  /** Pids, one a start, as the agents told them. */
  starts(): number[];
  /** What the agent wrote into its directory; empty if nothing. */
  told(name: string): string;
  tell(name: string, content: string): void;
  log(name: 'out' | 'err'): string;
  newest(): Promise<Fence>;
}

export function createHeadlessRig(argv: string[] = [agent('worker')]): HeadlessRig {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-headless-'));
  const agentDir = join(dir, 'agent');
  const cwd = join(dir, 'cwd');
  const brief = join(dir, 'brief.md');
  for (const path of [agentDir, cwd]) mkdirSync(path);
  writeFileSync(brief, 'Repair it.\n');
  const launcher = join(dir, 'launcher.mjs');
  writeFileSync(launcher, bundle.outputFiles[0]?.contents ?? '');
  const options: HeadlessOptions = { launcher, marksDir: join(dir, 'marks'), clock: systemClock };
  const env = { PATH: process.env.PATH ?? '', AGENT_DIR: agentDir };
  const place: Place = { job: 'j1', attempt: 1, target: 'w1', cwd, runDir: join(dir, 'run'), brief, argv, env };
  const transport = createHeadless(options);
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const told = (name: string) => read(join(agentDir, name));
  const starts = () => told('starts').split('\n').filter(Boolean).map(Number);
  const tell = (name: string, content: string) => {
    writeFileSync(join(agentDir, `${name}.new`), content);
    renameSync(join(agentDir, `${name}.new`), join(agentDir, name));
  };
  const noExecutable = join(dir, 'plain.txt');
  writeFileSync(noExecutable, '', { mode: 0o644 });
  const owner = { registry: 'r1', job: 'j1', attempt: 1, epoch: 1, pid: process.pid, started: 'x' };
  return {
    dir,
    options,
    transport,
    second: createHeadless(options),
    transportWith: (other) => createHeadless({ ...options, ...other }),
    place,
    unusable: [
      { why: 'cwd gone', place: { ...place, cwd: join(dir, 'gone') }, says: /gone does not exist; name an existing/ },
      { why: 'cwd is a file', place: { ...place, cwd: brief }, says: /brief\.md is not a directory/ },
      { why: 'no command', place: { ...place, argv: [] }, says: /no command; configure one/ },
      { why: 'empty command', place: { ...place, argv: [''] }, says: /no command; configure one/ },
      { why: 'unknown path', place: { ...place, argv: ['./tool'] }, says: /\.\/tool does not exist \(looked for in/ },
      { why: 'not executable', place: { ...place, argv: [noExecutable] }, says: /is not executable; .*chmod \+x/ },
      { why: 'a directory', place: { ...place, argv: [dir] }, says: /is not a file/ },
      {
        why: 'not in PATH',
        place: { ...place, argv: ['no-such-agent'] },
        says: /looked for in the PATH and was not found/,
      },
      { why: 'no PATH', place: { ...place, argv: ['sh'], env: {} }, says: /has no PATH/ },
    ],
    starts,
    told,
    tell,
    log: (name) => read(join(place.runDir, `${name}.log`)),
    received: () => starts().length,
    finishTurn: async () => tell('finish', '0'),
    finishedWork: () => told('done') !== '',
    async newest() {
      const fence = await transport.takeMark(place, owner, async () => true);
      if (!fence) throw new Error('the mark was not given');
      return fence;
    },
    async dispose() {
      const left = await endLeftovers(dir);
      rmSync(dir, { recursive: true });
      return left;
    },
  };
}
