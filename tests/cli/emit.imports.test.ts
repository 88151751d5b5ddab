// `emit` is run for every event of every agent. One careless import of XState, zod, execa, commander or mqtt anywhere below it
// would double its time, and nothing else would notice.
import { resolve } from 'node:path';
import esbuild from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Every file that a bundle of the entry takes in, lazily loaded ones too. */
async function inputsOf(entry: string): Promise<string[]> {
  return Object.keys((await trace(entry)).inputs);
}

async function trace(entry: string): Promise<esbuild.Metafile> {
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'unused',
    write: false,
    metafile: true,
    external: ['@photostructure/sqlite'],
    logLevel: 'silent',
  });
  return metafile;
}

describe.each(['src/cli/emit.ts', 'src/cli/report.ts'])('%s', (entry) => {
  it('loads no package, now or later, but the SQLite driver', async () => {
    const inputs = await inputsOf(entry);
    expect(inputs).toContain(entry);
    expect(inputs.filter((file) => file.includes('node_modules'))).toEqual([]);
  });

  it('loads no machine: only the words and tables beside it', async () => {
    const inputs = await inputsOf(entry);
    const light = ['machines/job/exit.ts', 'machines/job/table.ts', 'machines/job/vocabulary.ts'];
    expect(inputs.filter((file) => file.startsWith('machines/') && !light.includes(file))).toEqual([]);
  });
});

it('emit starts no process, so it does not load what could: that alone costs 5 ms', async () => {
  const { outputs } = await trace('src/cli/emit.ts');
  const builtins = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(builtins).toContain('node:crypto');
  expect(builtins).not.toContain('node:child_process');
});

it('the trace would see a heavy package', async () => {
  const inputs = await inputsOf('src/kernel/decide.ts');
  expect(inputs.some((file) => file.includes('node_modules/xstate/'))).toBe(true);
});
