// `emit` is run for every event of every agent. One careless import of XState, zod, execa, commander or mqtt anywhere below it
// would double its time, and nothing else would notice.
import { resolve } from 'node:path';
import esbuild from 'esbuild';
import { describe, expect, it } from 'vitest';
import { speakApart } from '../../build.mjs';

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
    plugins: entry === SPEAK ? [] : [speakApart],
    logLevel: 'silent',
  });
  return metafile;
}

/** What emit loads when the bus is the only way left; the build gives it a file of its own. */
const SPEAK = 'src/signals/bus/speak.ts';

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

it('emit loads what speaks by the bus from a file of its own, and only by the way to the bus', async () => {
  const { outputs } = await trace('src/cli/emit.ts');
  const apart = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ path }) => path === './speak.mjs'));
  expect(apart).toMatchObject([{ kind: 'dynamic-import', external: true }]);
});

it('and that file, which has the MQTT client, has no machine, no registry and no zod', async () => {
  const inputs = await inputsOf(SPEAK);
  expect(inputs.some((file) => file.includes('node_modules/mqtt/'))).toBe(true);
  expect(inputs.filter((file) => /^(machines|src\/registry)\/|node_modules\/(zod|xstate|aedes)\//.test(file))).toEqual(
    [],
  );
});

it('the trace would see a heavy package', async () => {
  const inputs = await inputsOf('src/kernel/decide.ts');
  expect(inputs.some((file) => file.includes('node_modules/xstate/'))).toBe(true);
});
