// Tests that start processes run what users run: the bundle. Built once before every run, and once more with the tests' world.
import { build } from '../../build.mjs';

export default async function setup(): Promise<void> {
  await Promise.all([build(), build({ entry: 'tests/support/world/stepward.ts', outdir: 'dist-test' })]);
}
