import { defineConfig } from 'vitest/config';

const shared = {
  environment: 'node' as const,
  globalSetup: ['tests/support/build.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/privileged/**', 'tests/faults/**'],
        },
      },
      { test: { ...shared, name: 'faults', include: ['tests/faults/**/*.test.ts'], testTimeout: 1_200_000 } },
      { test: { ...shared, name: 'privileged', include: ['tests/privileged/**/*.test.ts'], fileParallelism: false } },
    ],
  },
});
