// The guides are true: every block of them runs, in order, in an empty folder. `sh` blocks share one shell; `exit=N` in the info
// string is the code the block must end with, `file=NAME` writes the block instead of running it.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { project, stepward } from '../e2e/support.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

interface Block {
  language: string;
  file: string | null;
  exit: number;
  text: string;
}

const blocksOf = (page: string): Block[] =>
  [...readFileSync(join(docs, page), 'utf8').matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', info = '', text = '']) => ({
      language,
      file: /file=(\S+)/.exec(info)?.[1] ?? null,
      exit: Number(/exit=(\d+)/.exec(info)?.[1] ?? 0),
      text,
    }),
  );

/** One script of all blocks: each runs in a function of its own under `set -e`, and its exit code is compared. */
function scriptOf(blocks: Block[]): string {
  const run = blocks.filter(({ file, language }) => file === null && language === 'sh');
  return run
    .map(({ text, exit }, index) =>
      exit === 0
        ? `set -e\n${text}\necho "block ${index} ended" >&2`
        : `set +e\n${text.trim()}\ncode=$?\nset -e\n[ $code -eq ${exit} ] || { echo "block ${index}: exit code $code, not ${exit}" >&2; exit 99; }`,
    )
    .join('\n');
}

describe.each(['first-job.md', 'configuration.md', 'agents.md', 'host.md', 'bus.md'])('docs/%s', (page) => {
  it('runs', () => {
    const blocks = blocksOf(page);
    expect(blocks.length).toBeGreaterThan(1);
    const p = project();
    const work = join(p.dir, 'work');
    const bin = join(p.dir, 'bin');
    for (const dir of [work, bin]) mkdirSync(dir);
    writeFileSync(join(bin, 'stepward'), `#!/bin/sh\nexec "${process.execPath}" "${stepward}" "$@"\n`);
    chmodSync(join(bin, 'stepward'), 0o755);
    for (const { file, text } of blocks) if (file) writeFileSync(join(work, file), text);
    const { status, stdout, stderr } = spawnSync('bash', ['-c', scriptOf(blocks)], {
      cwd: work,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' },
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect(status, `${stdout}\n${stderr}`).toBe(0);
  });
});
