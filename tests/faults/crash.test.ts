// Many more plans than the fast lane has:  RUNS=5000 SEED=7 npx vitest run --project faults tests/faults/crash.test.ts
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { campaign } from '../simulation/campaign.ts';
import { anyPlan, EXAMPLES } from '../simulation/plans.ts';
import { brokenPromises } from '../simulation/promises.ts';

const RUNS = Number(process.env.RUNS ?? 1_500);
const SEED = Number(process.env.SEED ?? 4711);
/** In pieces, so that a report says how far it came. */
const PIECES = 10;

const { check, report } = campaign(brokenPromises);

it.each(Array.from({ length: PIECES }, (_, piece) => piece))('keeps every promise, part %i', async (piece) => {
  await fc.assert(fc.asyncProperty(anyPlan, check), {
    numRuns: Math.ceil(RUNS / PIECES),
    seed: SEED + piece,
    examples: EXAMPLES,
  });
});

it('came to every dangerous place and to every kind of end', () => {
  const { ends, unvisited, plans } = report();
  console.log(JSON.stringify(report()));
  expect(plans).toBeGreaterThanOrEqual(RUNS);
  expect(unvisited).toEqual([]);
  expect(Object.keys(ends).length).toBeGreaterThan(11);
});
