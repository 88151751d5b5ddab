// `stepward watch`, from the registry: as a picture, as lines, as JSON.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { Seen } from '../../src/cli/watch/source.ts';
import { changeLine, gistOf, picture } from '../../src/cli/watch/view.ts';
import { quote } from '../../src/transports/quote.ts';
import { openDesk, STEPWARD } from './terminal.ts';

const ink = createColors(false);
const now = Date.parse('2030-01-01T12:00:00Z');
const seen = (over: Partial<Seen['state']> = {}, more: Partial<Seen> = {}): Seen => ({
  state: {
    id: 'abc1',
    machine: 'job@1',
    status: 'running',
    state: 'injected.working',
    attempt: 1,
    version: 7,
    exit: null,
    reason: null,
    since: '2030-01-01T11:58:00Z',
    until: '2030-01-01T12:10:00Z',
    ...over,
  },
  agent: 'worker',
  title: 'Repair the tests',
  driven: true,
  object: {},
  happened: [],
  ...more,
});
const ended = seen({ id: 'xyz2', status: 'error', state: 'failed', exit: 2, reason: 'idle_timeout', until: null });

describe('the picture', () => {
  it('tells how many, and of each what it is, since when and until when', () => {
    const lines = picture([seen(), ended], 'here', now, 100, ink);
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d {2}1 open, 1 ended {2}here$/);
    expect(lines[2]).toBe('running  abc1  worker  2m in injected.working, 10m left  Repair the tests');
    expect(lines[3]).toBe('failed   xyz2  worker  idle_timeout, 2m ago              Repair the tests');
  });

  it('says who waits for a person, and what nobody drives', () => {
    const blocked = seen({ state: 'injected.blocked' });
    expect(picture([blocked], 'here', now, 100, ink)[2]).toMatch(/^blocked /);
    expect(picture([seen({}, { driven: false })], 'here', now, 200, ink)[2]).toContain('not driven');
  });

  it('shows what happened where one job is watched, and fits the terminal', () => {
    const lines = picture([seen({}, { happened: ['first', 'x'.repeat(300)] })], 'here', now, 40, ink);
    expect(lines).toContain('first');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it('says so when there is nothing, and shows nothing that drives a terminal', () => {
    expect(picture([], 'a\u001b[2Jb', now, 80, ink).join('\n')).toMatch(/a \[2Jb[\s\S]*no jobs/);
    expect(picture([seen({}, { title: 'a\u001b[2Jb' })], '', now, 200, ink).join('')).not.toContain('\u001b');
  });

  it('believes nothing that drives a terminal in what a bus says, in no column', () => {
    const evil = '\u001b]0;x\u0007\u001b[2J';
    const state = {
      id: `a${evil}`,
      state: `b${evil}`,
      reason: `c${evil}` as 'reported',
      exit: 1,
      status: 'error',
    } as const;
    const shown = [
      ...picture([seen(state), seen({ ...state, exit: null })], '', now, 300, ink),
      changeLine(seen(state), now, ink),
    ];
    for (const control of ['\u0007', '\u001b']) expect(shown.join('')).not.toContain(control);
  });

  it('keeps what the bus cannot tell out of it', () => {
    const [, , line] = picture([seen({}, { agent: null, title: null, driven: null })], 'bus', now, 100, ink);
    expect(line).toBe('running  abc1  2m in injected.working, 10m left');
  });
});

describe('a line of a change', () => {
  it('names job, status, reason and state', () => {
    expect(changeLine(ended, now, ink)).toMatch(/ {2}xyz2 {2}failed \(idle_timeout\) {2}failed {2}attempt 1$/);
  });

  it('is worth printing for a state, an attempt, an end and a lost driver, not for a later version', () => {
    const gist = gistOf(seen());
    expect(gistOf(seen({ version: 8, until: null }))).toBe(gist);
    for (const other of [seen({ state: 'x' }), seen({ attempt: 2 }), ended, seen({}, { driven: false })]) {
      expect(gistOf(other)).not.toBe(gist);
    }
  });
});

describe('stepward watch', () => {
  it('follows a job to its end, in lines, and ends with it', async () => {
    const desk = openDesk();
    const delegating = desk.start([
      'delegate',
      '--agent',
      'command',
      '--prompt',
      'x',
      ...desk.agent('started', 'until=go', 'completed'),
    ]);
    const job = await desk.jobOf(delegating);
    const watching = desk.start(['watch', job]);
    await watching.shows(new RegExp(`${job}  running`));
    const objects = desk.start(['watch', job, '--json']);
    await objects.shows('"status":"running"');
    writeFileSync(join(desk.dir, 'go'), '');
    const [lines, json, { code }] = await Promise.all([watching.finished, objects.finished, delegating.finished]);
    expect(code).toBe(0);
    expect(lines.code).toBe(0);
    expect(lines.out.trimEnd().split('\n').at(-1)).toMatch(/completed \(reported\) {2}completed {2}attempt 1$/);
    expect(json.code).toBe(0);
    const last = JSON.parse(json.out.trimEnd().split('\n').at(-1) ?? '') as object;
    expect(last).toMatchObject({ id: job, status: 'completed', exit: 0, reason: 'reported', title: 'x' });
  });

  it('shows everything that is open until Ctrl-C, and that nobody drives it any more', async () => {
    const desk = openDesk();
    const delegating = desk.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    const job = await desk.jobOf(delegating);
    const watching = desk.start(['watch']);
    await watching.shows(new RegExp(`${job}  running`));
    delegating.signal('SIGINT');
    await delegating.finished;
    await watching.shows(new RegExp(`${job}  running, not driven`));
    watching.signal('SIGINT');
    expect((await watching.finished).code).toBe(0);
    await desk.run(['cancel', job]);
  });

  it('ends when its reader goes away', async () => {
    const desk = openDesk();
    const delegating = desk.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    const job = await desk.jobOf(delegating);
    const watching = desk.start(['watch', job]);
    await watching.shows(job);
    watching.closeStdout();
    delegating.signal('SIGINT');
    await delegating.finished;
    expect((await watching.finished).code).toBe(0);
    await desk.run(['cancel', job]);
  });

  it('paints a picture on a terminal, over the former one', async () => {
    const desk = openDesk();
    const delegating = desk.start(['delegate', '--agent', 'human', '--prompt', 'paint me']);
    const job = await desk.jobOf(delegating);
    const command = `stty rows 30 cols 100; exec ${[process.execPath, STEPWARD, 'watch', job].map(quote).join(' ')}`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: desk.dir,
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const closed = new Promise((resolve) => terminal.once('close', resolve));
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      shown += chunk;
    });
    await expect.poll(() => shown, { timeout: 30_000 }).toMatch(/1 open, 0 ended[\s\S]*paint me/);
    delegating.signal('SIGINT');
    await delegating.finished;
    await desk.run(['cancel', job]);
    expect(await closed).toBe(0);
    expect(shown).toContain('0 open, 1 ended');
    expect(shown).toContain('\u001b[2K');
  });

  it('refuses what is not there', async () => {
    const desk = openDesk();
    const nowhere = await desk.run(['watch']);
    expect(nowhere.code).toBe(4);
    expect(nowhere.err).toContain('no registry in');
    const off = await desk.run(['watch', '--bus'], { env: { STEPWARD_MQTT_URL: 'off' } });
    expect(off.code).toBe(64);
    expect(off.err).toContain('--bus: finds no broker');
  });
});
