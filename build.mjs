// Bundles the CLI: the file that bin.stepward names, plus chunks that are loaded when a command needs them.
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import packageJson from './package.json' with { type: 'json' };

const root = fileURLToPath(new URL('.', import.meta.url));

const shared = {
  absWorkingDir: root,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Native, or loading files by name at run time: taken from node_modules.
  external: ['@photostructure/sqlite', 'jiti'],
  // CommonJS packages inside an ES module still call require().
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  define: { __STEPWARD_VERSION__: JSON.stringify(packageJson.version) },
  logLevel: 'warning',
};

/** `emit` runs once per event: one file of its own starts faster than the chunks it would share with the other commands. */
const emitApart = {
  name: 'emit-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/emit\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './emit.mjs', external: true } : undefined,
    );
  },
};

/** `entry` and `outdir` are other ones for tests, which run the same code in a world of their own. */
export async function build({ entry = 'src/cli/main.ts', outdir = 'dist' } = {}) {
  const entryPoints = { stepward: entry, launcher: 'src/transports/headless/launcher.ts' };
  const built = await Promise.all([
    esbuild.build({ ...shared, outdir, entryPoints, splitting: true, plugins: [emitApart] }),
    esbuild.build({ ...shared, outdir, entryPoints: { emit: 'src/cli/emit.ts' } }),
  ]);
  await mkdir(`${root}${outdir}`, { recursive: true });
  await Promise.all(built.flatMap(({ outputFiles }) => outputFiles).map(put));
  await chmod(`${root}${outdir}/stepward.mjs`, 0o755);
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
