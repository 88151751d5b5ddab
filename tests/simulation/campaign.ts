// Many plans in a row, and what was seen on the way.

import type { Plan } from './plan.ts';
import { PLACES } from './plans.ts';
import { endsOf } from './promises.ts';
import { type Result, simulate } from './simulate.ts';

export interface Report {
  plans: number;
  /** Opened gates: the places where a driver could have died. */
  gates: number;
  claims: number;
  attempts: number;
  ends: Record<string, number>;
  /** Dangerous places that no plan has come to. */
  unvisited: string[];
}

export interface Campaign {
  /** Throws if a promise is broken. */
  check(plan: Plan): Promise<void>;
  report(): Report;
}

export function campaign(judge: (result: Result) => string[]): Campaign {
  const visited = new Set<string>();
  const ends = new Map<string, number>();
  const sums = { plans: 0, gates: 0, claims: 0, attempts: 0 };
  return {
    async check(plan) {
      const result = await simulate(plan);
      sums.plans += 1;
      for (const [label, times] of result.visits) {
        visited.add(label);
        sums.gates += times;
      }
      for (const row of result.rows) {
        sums.claims += row.epoch;
        sums.attempts += row.attempt;
      }
      for (const { status, reason } of endsOf(result.log).values()) {
        ends.set(`${status} ${reason}`, (ends.get(`${status} ${reason}`) ?? 0) + 1);
      }
      const broken = judge(result);
      if (broken.length > 0) {
        throw new Error(`${broken.join('\n')}\nreplay: npx tsx tests/simulation/story.ts '${JSON.stringify(plan)}'`);
      }
    },
    report: () => ({
      ...sums,
      ends: Object.fromEntries([...ends].sort()),
      unvisited: PLACES.filter((place) => !visited.has(place)),
    }),
  };
}
