// Tests that start processes run what users run: the bundle. Built once before every run.
import { build } from '../../build.mjs';

export default async function setup(): Promise<void> {
  await build();
}
