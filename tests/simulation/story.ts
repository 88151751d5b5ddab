// Plays one plan and prints its log:  npx tsx tests/simulation/story.ts '<plan as JSON>'
import type { Plan } from './plan.ts';
import { brokenPromises } from './promises.ts';
import { simulate } from './simulate.ts';

const plan = JSON.parse(process.argv[2] ?? '{}') as Plan;
const result = await simulate(plan);
const start = result.log[0]?.at ?? 0;
for (const { at, version, epoch, job, attempt, state, from, what, verdict, reason, outcome, driver } of result.log) {
  const seconds = ((at - start) / 1000).toFixed(1).padStart(7);
  const ended = outcome ? `${outcome.status} ${outcome.reason}` : '';
  const words = [`${job}/${attempt}`, `v${version}`, `e${epoch}`, state.padEnd(22), `${from} ${what}`, `-> ${verdict}`];
  console.log(`${seconds} ${words.join(' ')} ${reason ?? ''} ${ended} ${driver ? `(${driver})` : ''}`);
}
console.log('received', Object.fromEntries(result.world.received), 'warnings', result.warnings);
console.log(
  result.rows.map(({ id, state, cleanup, epoch }) => ({ id, state, cleanup, epoch })),
  result.sessions,
);
console.log(
  'simulated s',
  Math.round(result.simulatedMs / 1000),
  'gates',
  [...result.visits.values()].reduce((a, b) => a + b, 0),
);
console.log('broken promises', brokenPromises(result));
