import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { createHuman } from '../../src/transports/human/human.ts';
import { testTransport } from './conformance.ts';
import { endLeftovers } from './leaks.ts';

const capabilities = {
  observesTurn: false,
  seesDialogs: false,
  ownsAgent: false,
  fences: false,
  reminds: false,
  settleMs: 0,
};

testTransport('human', capabilities, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-human-'));
  const cwd = join(dir, 'cwd');
  mkdirSync(cwd);
  const options = { marksDir: join(dir, 'marks'), clock: systemClock };
  const place = {
    job: 'j1',
    attempt: 1,
    target: 'ada',
    cwd,
    runDir: join(dir, 'run'),
    brief: join(dir, 'brief.md'),
    argv: [],
    env: {},
  };
  return {
    transport: createHuman(options),
    second: createHuman(options),
    place,
    unusable: [
      {
        why: 'no directory',
        place: { ...place, cwd: join(dir, 'gone') },
        says: /gone does not exist; name an existing/,
      },
    ],
    received: () => null,
    finishTurn: async () => {},
    finishedWork: () => true,
    async dispose() {
      const left = await endLeftovers(dir);
      rmSync(dir, { recursive: true });
      return left;
    },
  };
});
