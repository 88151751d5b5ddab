// Adds up the suites' reports and fails if a test failed, was skipped, or none ran.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (key) => reports.reduce((total, report) => total + report[key], 0);
const passed = sum('numPassedTests');
const failed = sum('numFailedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');

const bad = failed > 0 || skipped > 0 || reports.some((report) => report.numTotalTests === 0);
if (skipped > 0) console.log('a skipped test fails CI');
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = bad ? 1 : 0;
