// npm run test:hosts: the fast lane on every other Node. Further words go to vitest; with --outputFile.json=FILE each Node writes
// its report beside it (FILE with the version before its end).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode } from './install.ts';
import { NODES } from './versions.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const OUTPUT = '--outputFile.json=';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'stepward-hosts-'));
const words = process.argv.slice(2);
const wanted = words.find((word) => word.startsWith(OUTPUT))?.slice(OUTPUT.length);
const others = words.filter((word) => !word.startsWith(OUTPUT) && word !== '--reporter=json');

/** True if everything passed and nothing was left out. */
function passes(version: string): boolean {
  const node = installNode(version);
  console.log(`== the fast lane on Node ${version} (${node})`);
  const output = wanted ? wanted.replace(/(\.json)?$/, `.${version}.json`) : join(scratch, `${version}.json`);
  const reporters = others.some((word) => word.startsWith('--reporter=')) ? [] : ['--reporter=default'];
  const args = [vitest, 'run', '--project', 'fast', ...reporters, '--reporter=json', OUTPUT + output, ...others];
  // First on the PATH too: a shell script that says `node` means this one.
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    STEPWARD_EXPECT_NODE: version,
  };
  const { status } = spawnSync(node, args, { cwd: root, env, stdio: 'inherit' });
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    readFileSync(output, 'utf8'),
  ) as Report;
  const skipped = numPendingTests + numTodoTests;
  console.log(`Node ${version}: ${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`);
  return status === 0 && numFailedTests === 0 && skipped === 0 && numPassedTests > 0;
}

try {
  const bad = NODES.filter((version) => !passes(version));
  if (bad.length > 0) console.log(`failed on Node ${bad.join(', ')}`);
  process.exitCode = bad.length > 0 ? 1 : 0;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
