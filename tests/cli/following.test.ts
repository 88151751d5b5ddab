// What runs beside a job: its progress line, the wait for it, Ctrl-C. On a real registry, inside this process.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../src/cli/context.ts';
import { follow } from '../../src/cli/follow.ts';
import { watchInterrupts } from '../../src/cli/interrupts.ts';
import { waitForJobs } from '../../src/cli/waiters.ts';
import { Paper } from './inside.ts';
import { beginJobs } from './registry.ts';

function contextOn(stderr: Paper) {
  const stdout = new Paper();
  const io = { stdin: Readable.from([]), stdout, stderr, env: {}, cwd: '/' };
  return { ctx: createContext(io, {}, null), stdout };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('following jobs', () => {
  it('repaints one line on a terminal', async () => {
    const registry = await beginJobs('abc1');
    const stderr = new Paper(true, 60);
    const stop = new AbortController();
    const { ctx } = contextOn(stderr);
    const following = follow(ctx, registry, ['abc1'], stop.signal);
    await until(() => stderr.text.includes('abc1'));
    stop.abort();
    await following;
    expect(stderr.text.startsWith('\r\x1b[2K')).toBe(true);
    expect(stderr.text).toMatch(/abc1.*queued.*left/);
    expect(stderr.text).not.toContain('\n');
    // Taken away at the end, so that a result is not printed behind it.
    expect(stderr.text.endsWith('\r\x1b[2K')).toBe(true);
  });

  it('says plain lines of several jobs, each once while nothing changes', async () => {
    const registry = await beginJobs('abc1', 'xyz2');
    const stderr = new Paper();
    const stop = new AbortController();
    const { ctx } = contextOn(stderr);
    const following = follow(ctx, registry, ['abc1', 'xyz2'], stop.signal);
    await until(() => stderr.text.includes('xyz2'));
    await registry.note('abc1', { from: 'kernel', what: 'nothing that a person sees', verdict: 'take' });
    await registry.note('xyz2', {
      from: 'agent',
      what: 'progress',
      verdict: 'take',
      data: { detail: 'on\u001b[2J it' },
    });
    await until(() => stderr.text.includes('on'));
    stop.abort();
    await following;
    const lines = stderr.text.trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^abc1 {2}queued {2}/),
      expect.stringMatching(/^xyz2 {2}queued {2}/),
      expect.stringMatching(/^xyz2 {2}queued {2}.* · on \[2J it$/),
    ]);
  });
});

describe('waiting for a job that nobody drives', () => {
  it('gives up with 4 instead of waiting for ever, and says how to go on', async () => {
    const registry = await beginJobs('abc1');
    const stderr = new Paper();
    const { ctx, stdout } = contextOn(stderr);
    expect(await waitForJobs(ctx, registry, ['abc1'], 100)).toBe(4);
    expect(stderr.text).toContain('no live driver holds abc1; to drive it: stepward resume abc1\n');
    expect(stdout.text).toBe('');
  });
});

describe('Ctrl-C', () => {
  it('asks the first time and leaves the second time', () => {
    let left = 0;
    const interrupts = watchInterrupts(() => {
      left++;
    });
    try {
      expect(interrupts.signal.aborted).toBe(false);
      process.emit('SIGHUP');
      expect([interrupts.signal.aborted, left]).toEqual([true, 0]);
      process.emit('SIGHUP');
      expect(left).toBe(1);
    } finally {
      interrupts.close();
    }
    expect(process.listenerCount('SIGHUP')).toBe(0);
  });
});
