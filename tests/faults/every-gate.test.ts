// As tests/kernel/every-commit.test.ts, and finer: the driver dies at every gate it passes, reads, looks, keys and files too.
import { describe, expect, it } from 'vitest';
import { endingOf, nameOf, type Place, placesOf, planFor } from '../simulation/deaths.ts';
import { simulate } from '../simulation/simulate.ts';
import type { WorldOptions } from '../simulation/world.ts';

const WORLDS: WorldOptions[] = [
  { kind: 'pane', style: 'reports', work: 8, recordLag: 3_000, way: 'spool' },
  { kind: 'pane', style: 'asks', work: 8, recordLag: 0, way: 'inbox' },
  { kind: 'process', style: 'reports', work: 8, recordLag: 0, way: 'spool' },
  { kind: 'process', style: 'fails', work: 8, recordLag: 0, way: 'inbox' },
];

describe.each(WORLDS)('$kind, $style, by $way', (world) => {
  it('keeps every promise wherever the driver dies', async () => {
    const undisturbed = endingOf(await simulate(planFor(world)));
    const places = await placesOf(world, () => true);
    expect(places.length).toBeGreaterThan(150);
    const otherwise: Place[] = [];
    for (const place of places) {
      const died = endingOf(await simulate(planFor(world, place)));
      expect(died.broken, nameOf(place)).toEqual([]);
      if (died.outcome?.reason === 'not_delivered' && died.received['prompt a/1'] === undefined) otherwise.push(place);
      else expect(died, nameOf(place)).toEqual(undisturbed);
    }
    // Only a death between the mark of the paste and the paste ends otherwise, and a process is started even then.
    expect(otherwise.length).toBeLessThan(world.kind === 'pane' ? 10 : 1);
  });
});
