// npm run mutate [WORD…]: breaks the rules one by one in a copy of the tree and runs the suites that must notice. Words pick
// mutants by their names. Ends with 1 if one survives.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MUTANTS, type Mutant } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** In the order of their price: most mutants die in the first. */
const SUITES = [
  [
    'tests/models/job.table',
    'tests/models/job.rules',
    'tests/models/job.shape',
    'tests/models/job.clocks',
    'tests/models/job.turn',
    'tests/models/job.bus',
    'tests/models/job.cleanup',
    'tests/models/migrate',
    'tests/models/decide',
  ],
  ['tests/registry/sqlite', 'tests/signals/envelope'],
  ['tests/kernel', 'tests/jobs', 'tests/simulation/stories', 'tests/models/runner.walks'],
  ['--project', 'faults', 'tests/models/runner'],
  ['tests/e2e/completion'],
];

const copy = mkdtempSync(join(tmpdir(), 'stepward-mutants-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
for (const file of tracked.split('\0').filter(Boolean)) {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  cpSync(join(root, file), join(copy, file));
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

/** The suite that failed, or null if all passed. */
function caughtBy(): string | null {
  for (const suite of SUITES) {
    // `timeout` ends the whole process group: a mutant that hangs must not go on burning a core behind the next one.
    const run = [
      '240',
      'npx',
      'vitest',
      'run',
      '--bail',
      '1',
      ...(suite[0] === '--project' ? suite : ['--project', 'fast', ...suite]),
    ];
    const { status } = spawnSync('timeout', run, { cwd: copy, stdio: 'ignore' });
    if (status !== 0) return suite.map((path) => path.replace('tests/', '')).join(' ');
  }
  return null;
}

function apply({ file, from, to }: Mutant): () => void {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not hold this exactly once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return () => writeFileSync(path, text);
}

const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const chosen = MUTANTS.filter(({ breaks }) => words.length === 0 || words.some((word) => breaks.includes(word)));
for (const mutant of chosen) apply(mutant)(); // all must fit before the first one runs
if (!process.argv.includes('--no-baseline') && caughtBy() !== null)
  throw new Error('the suites fail without any mutant');
let survivors = 0;
for (const mutant of chosen) {
  const restore = apply(mutant);
  const caught = caughtBy();
  restore();
  if (!caught) survivors++;
  console.log(`${caught ? 'caught  ' : 'SURVIVED'}  ${mutant.breaks}${caught ? `  (${caught})` : ''}`);
}
console.log(`${chosen.length - survivors} of ${chosen.length} caught`);
process.exitCode = survivors > 0 ? 1 : 0;
