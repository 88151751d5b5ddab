// Whose a new row is: of the command that gave it, or of whoever comes first.
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Registry } from '../../src/kernel/ports.ts';
import { selfRecord } from '../../src/transports/process.ts';
import { freshDir, Paper } from './inside.ts';

/** A registry beside which a host lives that is quicker than anybody: it claims every row in the moment it appears. */
function withQuickHost(claimed: (number | null)[]) {
  const host = selfRecord('quick-host', 'test');
  return (real: Registry): Registry => ({
    ...real,
    async insert(...args) {
      const row = await real.insert(...args);
      claimed.push(await real.claim(row.id, host, 15_000, 60_000, () => false));
      return row;
    },
  });
}

async function delegate(...flags: string[]) {
  const claimed: (number | null)[] = [];
  const stderr = new Paper();
  const { PATH = '' } = process.env;
  const env = { PATH, STEPWARD_MQTT_URL: 'off' };
  const io = { stdin: Readable.from([]), stdout: new Paper(), stderr, env, cwd: freshDir() };
  const argv = ['delegate', '--agent', 'human', '--prompt', 'x', ...flags];
  const ended = runProgram(argv, { ...io, world: { wrap: withQuickHost(claimed) } });
  await expect.poll(() => claimed, { timeout: 20_000 }).toHaveLength(1);
  return { claimed, stderr, ended };
}

it('a foreground delegate has its row from the first moment: no host can be quicker', async () => {
  const { claimed, stderr, ended } = await delegate();
  expect(claimed).toEqual([null]);
  await expect.poll(() => stderr.text, { timeout: 20_000 }).toContain('emit completed');
  process.emit('SIGINT');
  expect(await ended).toBe(130);
});

it('with --detach it is the host’s that comes first, and is told so', async () => {
  const { claimed, stderr, ended } = await delegate('--detach');
  expect(claimed).toEqual([1]);
  expect(await ended).toBe(0);
  expect(stderr.text).toContain(`driven by pid ${process.pid} on `);
});
