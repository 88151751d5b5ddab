#!/usr/bin/env node
// The command line as tests run it where they need another world than the machine's: the same code, with simulated time
// (STEPWARD_TEST_CLOCK=FILE) and a registry that kills its driver (STEPWARD_TEST_KILL=before|after:N, the N-th commit).
// This file, not the product, reads those variables: nothing that is shipped can be told to die or to believe another time.
import { emitMain } from '../../../src/cli/emit.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { reportMain } from '../../../src/cli/report.ts';
import { fileClock } from './clock-file.ts';
import { killing } from './killing.ts';

const [command, ...rest] = process.argv.slice(2);
const { stdin, stdout, stderr, env } = process;
const { STEPWARD_TEST_CLOCK: clockFile, STEPWARD_TEST_KILL: kill } = env;
const world = {
  ...(clockFile && { clock: fileClock(clockFile) }),
  ...(kill && { wrap: killing(kill) }),
};
const io = { stdin, stdout, stderr, env, cwd: process.cwd(), world };

if (command === 'emit') process.exit(await emitMain(rest, io));
if (command === 'report') process.exit(await reportMain(rest, io));
process.exit(await runProgram(process.argv.slice(2), io));
