// Tests that start processes run what users run: the bundle. Built once before every run, and once more with the tests' world.
import { build } from '../../build.mjs';

const world = 'tests/support/world';

export default async function setup(): Promise<void> {
  await Promise.all([
    build(),
    build({ front: `${world}/front.ts`, main: `${world}/stepward.ts`, outdir: 'dist-test' }),
  ]);
}
