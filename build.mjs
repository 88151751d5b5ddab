// Bundles the CLI: the file that bin.stepward names, plus chunks that are loaded when a command needs them.
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import packageJson from './package.json' with { type: 'json' };

const root = fileURLToPath(new URL('.', import.meta.url));

const shared = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20.19',
  // Native, or loading files by name at run time: taken from node_modules.
  external: ['@photostructure/sqlite', 'jiti', './emit.cjs'],
  define: { __STEPWARD_VERSION__: JSON.stringify(packageJson.version) },
  logLevel: 'warning',
};
const modules = {
  ...shared,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // CommonJS packages inside an ES module still call require().
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
};
/** Node loads them in half the time: for what runs once per event. */
const scripts = {
  ...shared,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: "const __file = require('node:url').pathToFileURL(__filename).href;" },
  define: { ...shared.define, 'import.meta.url': '__file' },
};

/** What is loaded by name at run time from a file of its own, and not bundled into the one that loads it. */
const apart = (name, file) => ({
  name: `${name}-apart`,
  setup(build) {
    build.onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${file}`, external: true } : undefined,
    );
  },
});
/** `emit` must not hold the MQTT client, which only an event without another way needs. */
export const speakApart = apart('speak', 'speak.mjs');

/** `front` and `main` are other ones for tests, which run the same code in a world of their own. */
export async function build({ front = 'src/cli/front.ts', main = 'src/cli/main.ts', outdir = 'dist' } = {}) {
  const mainApart = apart(main.replace(/^.*\/|\.ts$/g, ''), 'main.mjs');
  const built = await Promise.all([
    esbuild.build({ ...scripts, outdir, entryPoints: { stepward: front }, plugins: [mainApart] }),
    esbuild.build({ ...scripts, outdir, entryPoints: { emit: 'src/cli/emit.ts' }, plugins: [speakApart] }),
    esbuild.build({
      ...modules,
      outdir,
      entryPoints: { main, launcher: 'src/transports/headless/launcher.ts' },
      splitting: true,
    }),
    esbuild.build({ ...modules, outdir, entryPoints: { speak: 'src/signals/bus/speak.ts' } }),
  ]);
  await mkdir(`${root}${outdir}`, { recursive: true });
  await Promise.all(built.flatMap(({ outputFiles }) => outputFiles).map(put));
  await chmod(`${root}${outdir}/stepward.cjs`, 0o755);
}

/** Only what has changed, and whole: a process that starts while another run builds must not read half a file. */
async function put({ path, contents }) {
  const present = await readFile(path).catch(() => null);
  if (present?.equals(contents)) return;
  await writeFile(`${path}.${process.pid}`, contents);
  await rename(`${path}.${process.pid}`, path);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await rm(`${root}dist`, { recursive: true, force: true });
  await build();
}
