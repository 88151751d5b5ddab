import { defineConfig } from 'vitest/config';

const shared = {
  environment: 'node' as const,
  globalSetup: ['tests/support/build.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** The model's edges, paths and races once more on the real runner over SQLite: thousands of tests, not for every save. */
const onTheRunner = ['edges', 'paths', 'races'].map((level) => `tests/models/runner.${level}.test.ts`);

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/privileged/**', 'tests/faults/**', ...onTheRunner],
        },
      },
      {
        test: {
          ...shared,
          name: 'faults',
          include: ['tests/faults/**/*.test.ts', ...onTheRunner],
          testTimeout: 1_200_000,
        },
      },
      { test: { ...shared, name: 'privileged', include: ['tests/privileged/**/*.test.ts'], fileParallelism: false } },
    ],
  },
});
