// The crash simulator in the fast lane: the production kernel under random trouble, every promise of design.md section 1 asked
// of each run. SEED picks other plans; tests/faults has more of them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { campaign } from './campaign.ts';
import { anyPlan, EXAMPLES } from './plans.ts';
import { brokenPromises } from './promises.ts';

const numRuns = Number(process.env.RUNS ?? 150);
const seed = Number(process.env.SEED ?? 2026);

it(`keeps every promise in ${numRuns} random plans`, { timeout: 600_000 }, async () => {
  const { check, report } = campaign(brokenPromises);
  await fc.assert(fc.asyncProperty(anyPlan, check), { numRuns, seed, examples: EXAMPLES });
  const { ends, unvisited, plans, gates, attempts, claims } = report();
  // A suite that never comes to the dangerous places proves nothing.
  expect(unvisited).toEqual([]);
  expect(Object.keys(ends).length).toBeGreaterThan(10);
  expect(plans).toBe(numRuns);
  expect(gates / plans).toBeGreaterThan(500);
  expect(claims).toBeGreaterThan(attempts);
});
