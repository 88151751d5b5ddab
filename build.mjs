// Bundles the CLI: one file that bin.stepward names, plus chunks that are loaded when a command needs them. Splitting is what
// keeps `stepward emit` fast: it loads neither XState nor zod nor execa.
import { chmod, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import packageJson from './package.json' with { type: 'json' };

const root = fileURLToPath(new URL('.', import.meta.url));

export async function build() {
  await rm(`${root}dist`, { recursive: true, force: true });
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { stepward: 'src/cli/main.ts', launcher: 'src/transports/headless/launcher.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Native, or loading files by name at run time: taken from node_modules.
    external: ['@photostructure/sqlite', 'jiti'],
    // CommonJS packages inside an ES module still call require().
    banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    define: { __STEPWARD_VERSION__: JSON.stringify(packageJson.version) },
    logLevel: 'warning',
  });
  await chmod(`${root}dist/stepward.mjs`, 0o755);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await build();
