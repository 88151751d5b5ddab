// Runs many plans and prints the smallest that breaks a promise:  npx tsx tests/simulation/explore.ts [runs] [seed] [path]
// IGNORE=regexp leaves out broken promises of that wording.
import fc from 'fast-check';
import { campaign } from './campaign.ts';
import { anyPlan } from './plans.ts';
import { brokenPromises } from './promises.ts';

const [runs = '200', seed = '1'] = process.argv.slice(2);
const ignore = new RegExp(process.env.IGNORE ?? '^$');
const { report, check } = campaign((result) => brokenPromises(result).filter((what) => !ignore.test(what)));
const outcome = await fc.check(fc.asyncProperty(anyPlan, check), { numRuns: Number(runs), seed: Number(seed) });
console.log(report());
if (outcome.failed) console.log(JSON.stringify(outcome.counterexample?.[0]), `\n${String(outcome.errorInstance)}`);
