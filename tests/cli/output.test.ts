import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createOutput, type Io } from '../../src/cli/io.ts';
import { noNews } from '../../src/cli/news.ts';
import { progressLine } from '../../src/cli/progress.ts';
import type { Row } from '../../src/kernel/ports.ts';
import { Paper } from './inside.ts';

const io = (stdout: Writable, stderr: Writable, env: NodeJS.ProcessEnv = {}): Io => ({
  stdin: Readable.from([]),
  stdout,
  stderr,
  env,
  cwd: '/',
});

const ESC = '\x1b';

describe('the output', () => {
  it('colours only a terminal, stream by stream', () => {
    const { talk, ink } = createOutput(io(new Paper(), new Paper(true)), false);
    expect(talk.red('x')).toContain(ESC);
    expect(ink.red('x')).toBe('x');
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('respects %j', (env) => {
    expect(createOutput(io(new Paper(), new Paper(true), env), false).talk.red('x')).toBe('x');
  });

  it('paints over its last line, and takes it away before it says another', () => {
    const stderr = new Paper(true);
    const out = createOutput(io(new Paper(), stderr), false);
    out.paint('one');
    out.paint('two');
    out.say('done');
    expect(stderr.text).toBe(`\r${ESC}[2Kone\r${ESC}[2Ktwo\r${ESC}[2Kdone\n`);
  });

  it('paints nothing where nothing can be painted over', () => {
    const stderr = new Paper();
    createOutput(io(new Paper(), stderr), false).paint('one');
    expect(stderr.text).toBe('');
  });

  it('goes on without a reader, and says that there is none', async () => {
    const stdout = new PassThrough();
    const stderr = new Paper();
    const out = createOutput(io(stdout, stderr), false);
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await new Promise((resolve) => out.unread.addEventListener('abort', resolve, { once: true }));
    out.print('nobody reads this');
    out.say('but somebody reads this');
    await out.flush();
    expect(stderr.text).toBe('but somebody reads this\n');
  });

  it('tells a result that could not be written, once', async () => {
    const stderr = new Paper();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const stdout = new Writable({ autoDestroy: false, write: (_chunk, _encoding, done) => done(full) });
    const out = createOutput(io(stdout, stderr), false);
    out.print('one');
    out.print('two');
    await out.flush();
    expect(stderr.text).toBe('error: standard output could not be written (ENOSPC)\n');
  });
});

describe('a line of progress', () => {
  const row = {
    id: 'k7f3',
    phase: 'injected',
    state: 'injected.working',
    createdAt: 1_000,
    snapshot: { context: {} },
  } as unknown as Row;
  const timers = [
    {
      job: 'k7f3',
      id: 'd',
      delay: 'deadline',
      armedVersion: 1,
      fireAt: 3_601_000,
      event: { type: 'd' },
      silence: false,
    },
  ];
  const colors = createOutput(io(new Paper(), new Paper()), false).talk;
  const news = { ...noNews, last: 'reading the tests' };

  it('tells state, elapsed, time left and the last words', () => {
    const line = progressLine({ row, timers, news }, 193_000, 200, colors);
    expect(line).toBe('k7f3  injected.working  3m12s, 56m48s left  · reading the tests');
  });

  it('never wraps', () => {
    for (const width of [20, 40, 50, 60, 70]) {
      const line = progressLine({ row, timers, news }, 193_000, width, colors);
      expect(line.length).toBeLessThan(Math.max(width, 'k7f3  injected.working  3m12s, 56m48s left'.length + 1));
    }
  });

  it('says what keeps us from typing', () => {
    const held = {
      ...row,
      phase: 'pending',
      state: 'idle-wait.probing',
      snapshot: { context: { hold: 'draft' } },
    } as unknown as Row;
    expect(progressLine({ row: held, timers, news: noNews }, 193_000, 200, colors)).toContain('held: draft');
  });
});
