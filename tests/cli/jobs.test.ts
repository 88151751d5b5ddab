// Whole jobs by the bundle, each command a process of its own: what is printed where, and the exit codes of design section 5.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDesk } from './terminal.ts';

const FAST = ['--agent', 'command', '--prompt', 'Do it'];

describe('delegate', () => {
  it('exits 0 with a verified report; the result on stdout, the talk on stderr', async () => {
    const desk = openDesk();
    const { code, out, err } = await desk.run([
      'delegate',
      ...FAST,
      ...desk.agent('started', 'progress=half way', 'completed'),
    ]);
    expect(code).toBe(0);
    expect(err).toMatch(/^registered job: (\w+)\n/);
    expect(err).toContain('half way');
    const [, id] = /registered job: (\w+)/.exec(err)!;
    expect(out).toMatch(
      new RegExp(`^${id} completed \\(reported\\) after \\d+s\n {2}report: ${join(desk.dir, 'report.md')}\n$`),
    );
    expect(desk.starts()).toBe(1);
    expect(out).not.toContain('\x1b');

    const status = await desk.json(['status', '@last']);
    expect(status).toMatchObject({
      id,
      machine: 'job@1',
      status: 'completed',
      state: 'completed',
      attempt: 1,
      exit: 0,
      reason: 'reported',
      until: null,
      token: `${id}.1`,
      cleanup: 'done',
      report: join(desk.dir, 'report.md'),
    });
    expect(Number.isInteger(status.version)).toBe(true);
    expect(new Date(status.since as string).toISOString()).toBe(status.since);
  });

  it('gives one object with --json, and takes the task from standard input', async () => {
    const desk = openDesk();
    const { code, out } = await desk.run(
      ['delegate', '--agent', 'command', '-', '--json', ...desk.agent('completed')],
      {
        input: 'Mind the gap\n',
      },
    );
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({ status: 'completed', exit: 0, title: 'Mind the gap' });
  });

  it('exits 1 where the agent says that it failed, with its words', async () => {
    const desk = openDesk();
    const { code, out } = await desk.run(['delegate', ...FAST, ...desk.agent('failed=no licence here')]);
    expect(code).toBe(1);
    expect(out).toContain('failed (agent_failed)');
    expect(out).toContain('no licence here');
  });

  it('exits 1 where the agent ends without a report, and keeps the id', async () => {
    const desk = openDesk();
    const { code, err } = await desk.run(['delegate', ...FAST, ...desk.agent('exit=0')]);
    expect(code).toBe(1);
    expect(err).toMatch(/^registered job: \w+\n/);
    expect(await desk.json(['status'])).toMatchObject({ status: 'error', exit: 1, reason: 'agent_exited' });
  });

  it('exits 2 at the deadline and leaves no agent behind', async () => {
    const desk = openDesk();
    const { code, out } = await desk.run(['delegate', ...FAST, '--timeout', '1s', ...desk.agent('started', 'hang')]);
    expect(code).toBe(2);
    expect(out).toContain('failed (deadline_timeout)');
  });

  it('exits 5 where nothing could be sent, and says how to try again', async () => {
    const desk = openDesk();
    const { code, out, err } = await desk.run(['delegate', ...FAST, '--', './no-such-agent']);
    expect(code).toBe(5);
    expect(out).toContain('cancelled (preflight_failed)');
    expect(out).toContain('no-such-agent');
    expect(err).toMatch(/nothing was sent; .*stepward redispatch \w+/);
  });

  it('exits 64 on bad input, and writes nothing', async () => {
    const desk = openDesk();
    const { code, err } = await desk.run(['delegate', ...FAST, '--timeout', '5 parsecs', ...desk.agent('completed')]);
    expect(code).toBe(64);
    expect(err).toContain('--timeout: "5 parsecs"');
    expect(existsSync(join(desk.dir, '.stepward'))).toBe(false);
    expect(desk.starts()).toBe(0);
  });

  it('goes on to the end when nobody reads its stdout any more', async () => {
    const desk = openDesk();
    const running = desk.start(['delegate', ...FAST, ...desk.agent('started', 'until=go', 'completed')]);
    await running.shows('injected');
    running.closeStdout();
    writeFileSync(join(desk.dir, 'go'), '');
    const { code, err } = await running.finished;
    expect(code).toBe(0);
    expect(err).not.toMatch(/EPIPE|error/);
  });

  it('uses an agent of the config, from a directory below it', async () => {
    const desk = openDesk();
    const [, ...command] = desk.agent('completed');
    writeFileSync(
      join(desk.dir, 'stepward.config.json'),
      JSON.stringify({ agents: { worker: { kind: 'command', command } } }),
    );
    const { code, err } = await desk.run(['delegate', '--agent', 'worker', '--prompt', 'x']);
    expect({ code, agent: (await desk.json(['status'])).agent }).toEqual({ code: 0, agent: 'worker' });
    expect(err).not.toContain('error');
  });
});

describe('a human agent', () => {
  it('is shown the brief and the commands, and those commands work', async () => {
    const desk = openDesk();
    const running = desk.start(['delegate', '--agent', 'human', '--prompt', 'Look at the logo']);
    await running.shows(/emit failed/);
    const [, brief] = /^brief: (.*)$/m.exec(running.err())!;
    expect(readFileSync(brief!, 'utf8')).toContain('Look at the logo');
    const [, words] = /^ {2}.+ (emit completed .*)$/m.exec(running.err())!;
    writeFileSync(words!.split(' --report ')[1]!, '# It is fine\n');
    const answered = await desk.run(words!.split(' '));
    expect(answered.code).toBe(0);
    expect(answered.out).toMatch(/committed as version \d+/);
    expect((await running.finished).code).toBe(0);
  });
});

describe('Ctrl-C', () => {
  it('before the delivery cancels; the second job of a session never reached it', async () => {
    const desk = openDesk();
    const shared = ['delegate', '--agent', 'human', '--prompt', 'x', '--session', 'human:desk'];
    const first = desk.start(shared);
    await first.shows('emit failed');
    const holder = await desk.jobOf(first);
    const second = desk.start(shared);
    await second.shows(/queued/);
    const waiting = await desk.jobOf(second);
    expect(await desk.json(['explain', waiting])).toMatchObject({ state: 'queued', queuedBehind: holder });
    second.signal('SIGINT');
    const { code, err } = await second.finished;
    expect(code).toBe(130);
    expect(err).toContain(`${waiting} is cancelled; nothing had been sent`);
    expect(await desk.json(['status', waiting])).toMatchObject({
      status: 'cancelled',
      reason: 'cancelled',
      cleanup: 'done',
    });
    expect((await desk.run(['cancel', holder])).code).toBe(0);
    expect((await first.finished).code).toBe(1);
  });

  it('after the delivery releases the job, which another process can drive to its end', async () => {
    const desk = openDesk();
    const running = desk.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    await running.shows('emit failed');
    const job = await desk.jobOf(running);
    running.signal('SIGINT');
    const { code, err } = await running.finished;
    expect(code).toBe(130);
    expect(err).toContain(`stepward resume ${job}`);
    expect(err).toContain(`stepward cancel ${job}`);
    expect(await desk.json(['explain', job])).toMatchObject({ status: 'running', driver: null, open: true });
    expect((await desk.run([])).out).toMatch(new RegExp(`^running, not driven +${job} .*stepward resume ${job}\n$`));

    const resumed = desk.start(['resume', job.slice(0, 5)]);
    await resumed.shows(`resuming ${job}`);
    await resumed.shows('emit failed');
    expect((await desk.run(['cancel', '@last', '--detail', 'enough'])).code).toBe(0);
    expect(await resumed.finished).toMatchObject({ code: 1 });
    expect(await desk.json(['status'])).toMatchObject({ status: 'cancelled', exit: 1, detail: 'enough' });
  });

  it('stops the agent that we started', async () => {
    const desk = openDesk();
    const running = desk.start(['delegate', ...FAST, ...desk.agent('started', 'hang')]);
    await running.shows('injected.');
    const job = await desk.jobOf(running);
    const log = desk.start(['logs', '-f', job]);
    await log.shows(/agent +started/);
    running.signal('SIGINT');
    expect((await running.finished).code).toBe(130);
    log.signal('SIGINT');
    expect((await log.finished).code).toBe(130);
    // The agent is gone: that is what resume finds.
    expect((await desk.run(['resume'])).code).toBe(1);
    expect(await desk.json(['status'])).toMatchObject({ reason: 'agent_exited', cleanup: 'done' });
    expect(desk.starts()).toBe(1);
  });
});

describe('kill -9 of the driver', () => {
  it('loses nothing: resume takes the job up, the agent was started once', async () => {
    const desk = openDesk();
    const running = desk.start(['delegate', ...FAST, ...desk.agent('started', 'until=go', 'completed')]);
    const job = await desk.jobOf(running);
    const log = desk.start(['logs', '-f', job]);
    await log.shows(/agent +started/);
    running.signal('SIGKILL');
    await running.finished;
    // Proven dead by its pid, whatever its lease says.
    expect(await desk.json(['explain', job])).toMatchObject({ driver: null, status: 'running' });
    writeFileSync(join(desk.dir, 'go'), '');
    const resumed = await desk.run(['resume']);
    expect(resumed.err).toMatch(new RegExp(`^resuming ${job} `));
    expect(resumed).toMatchObject({ code: 0 });
    expect((await log.finished).out).toMatch(/completed/);
    expect(desk.starts()).toBe(1);
  });
});
