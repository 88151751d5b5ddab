// One job, the same in everything, once undisturbed and then again and again with the driver killed at one place.
import type { Outcome } from '../../machines/job/vocabulary.ts';
import type { Plan } from './plan.ts';
import { brokenPromises, endsOf } from './promises.ts';
import { type Result, simulate } from './simulate.ts';
import type { WorldOptions } from './world.ts';

export interface Place {
  label: string;
  nth: number;
}

/** What a caller is told, and what the agent has seen. */
export interface Ending {
  outcome: Outcome | undefined;
  received: Record<string, number>;
  broken: string[];
}

export const planFor = (world: WorldOptions, dies?: Place): Plan => ({
  seed: 11,
  world,
  jobs: 1,
  // A person is near who answers what is asked.
  mishaps: [
    ...[15, 60, 90].map((second) => ({ at: { second }, do: 'answer' as const })),
    ...(dies ? [{ at: dies, do: 'kill' as const }] : []),
  ],
});

export function endingOf(result: Result): Ending {
  return {
    outcome: endsOf(result.log).get('a/1'),
    received: Object.fromEntries(result.world.received),
    broken: brokenPromises(result),
  };
}

/** Where the undisturbed run passes, in order, up to its end. */
export async function placesOf(world: WorldOptions, isWanted: (label: string) => boolean): Promise<Place[]> {
  const { trail } = await simulate(planFor(world));
  const end = trail.findLastIndex(({ label }) => label === 'release:after');
  return trail.slice(0, end).filter(({ label }) => isWanted(label));
}

export const nameOf = ({ label, nth }: Place): string => `${label} #${nth}`;
