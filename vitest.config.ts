import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const shared = {
  environment: 'node' as const,
  globalSetup: ['tests/support/build.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** The model's edges, paths and races once more on the real runner over SQLite: thousands of tests, not for every save. */
const onTheRunner = ['edges', 'paths', 'races'].map((level) => `tests/models/runner.${level}.test.ts`);

/** Real tmux servers, one a test: too slow for every save. */
const inPanes = ['tests/transports/tmux-conformance.test.ts', 'tests/transports/tmux/**/*.test.ts'];

export default defineConfig({
  test: {
    // Most suites wait for processes that they have started: on two cores one worker alone would leave half of the machine idle.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/privileged/**', 'tests/faults/**', 'tests/agents-live/**', ...onTheRunner, ...inPanes],
        },
      },
      {
        test: {
          ...shared,
          name: 'faults',
          include: ['tests/faults/**/*.test.ts', ...onTheRunner, ...inPanes],
          testTimeout: 1_200_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'agents',
          include: ['tests/agents-live/**/*.test.ts'],
          globalSetup: ['tests/agents-live/setup.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
      { test: { ...shared, name: 'privileged', include: ['tests/privileged/**/*.test.ts'], fileParallelism: false } },
    ],
  },
});
