// close, cancel, redispatch, wait, resume, and the commands that look, on real jobs.
import { describe, expect, it } from 'vitest';
import { type Desk, openDesk } from './terminal.ts';

const HUMAN = ['delegate', '--agent', 'human', '--prompt', 'x'];

/** A job that waits for its human, driven by a process of its own. */
async function openJob(desk: Desk) {
  const running = desk.start(HUMAN);
  await running.shows('emit failed');
  return { running, job: await desk.jobOf(running) };
}

/** A job that has ended: cancelled by a person, cleaned up. */
async function endedJob(desk: Desk): Promise<string> {
  const { running, job } = await openJob(desk);
  await desk.run(['cancel', job]);
  await running.finished;
  return job;
}

describe('close', () => {
  it('ends a driven job as its driver would: a timeout is exit 2 there, 0 here', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const closed = await desk.run(['close', job, '--request', 'deadline_timeout', '--expect-token', `${job}.1`]);
    expect(closed.code).toBe(0);
    expect(closed.out).toMatch(new RegExp(`^${job}: deadline_timeout: committed as version \\d+`));
    expect((await running.finished).code).toBe(2);
  });

  it('exits 4 at another token, and changes nothing', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const before = await desk.json(['status', job]);
    const closed = await desk.run(['close', job, '--request', 'cancelled', '--expect-token', `${job}.2`]);
    expect(closed).toMatchObject({ code: 4, out: '' });
    expect(closed.err).toContain(`--expect-token: "${job}.2" is not the token of ${job}; allowed: ${job}.1`);
    expect(await desk.json(['status', job])).toEqual(before);
    await desk.run(['cancel', job]);
    await running.finished;
  });

  it('exits 0 on an ended job with a line that says so, and leaves it as it is', async () => {
    const desk = openDesk();
    const job = await endedJob(desk);
    const before = await desk.json(['status', job]);
    const again = await desk.run(['close', job, '--request', 'cancelled']);
    expect(again).toMatchObject({
      code: 0,
      out: `${job}: already cancelled (version ${before.version}); nothing changed\n`,
    });
    const other = await desk.run(['close', job, '--request', 'deadline_timeout', '--json']);
    expect(other.code).toBe(0);
    expect(JSON.parse(other.out)).toMatchObject({ job, verdict: 'conflict', phase: 'cancelled' });
    expect(await desk.json(['status', job])).toEqual(before);
  });
});

describe('redispatch', () => {
  it('is refused (4) while the job is open', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const refused = await desk.run(['redispatch', job]);
    expect(refused.code).toBe(4);
    expect(refused.out).toContain('redispatch refused: not_now');
    const { refused: told } = (await desk.json(['explain', job])) as { refused: { what: string }[] };
    expect(told.map(({ what }) => what)).toEqual(['redispatch']);
    await desk.run(['cancel', job]);
    await running.finished;
  });

  it('begins the next attempt, or the named one, never an older', async () => {
    const desk = openDesk();
    const job = await endedJob(desk);
    const begun = await desk.run(['redispatch', job]);
    expect(begun).toMatchObject({ code: 0, err: `nobody drives it yet: stepward resume ${job}\n` });
    expect(await desk.json(['status', job])).toMatchObject({
      attempt: 2,
      token: `${job}.2`,
      status: 'pending',
      exit: null,
    });
    expect((await desk.run(['cancel', job])).code).toBe(0);
    for (const old of ['1', '2']) {
      const refused = await desk.run(['redispatch', job, '--attempt', old]);
      expect(refused.code).toBe(4);
      expect(refused.out).toContain('other_attempt');
    }
    expect((await desk.run(['redispatch', job, '--attempt', '7'])).code).toBe(0);
    expect(await desk.json(['status', job])).toMatchObject({ attempt: 7 });
    expect((await desk.run(['cancel', job])).code).toBe(0);
  });
});

describe('wait', () => {
  it('ends with the job that another process drives, with the worst exit code', async () => {
    const desk = openDesk();
    const one = await openJob(desk);
    const two = await openJob(desk);
    const waiting = desk.start(['wait', one.job, two.job, '--json']);
    await waiting.shows(new RegExp(one.job));
    await desk.run(['cancel', one.job]);
    await desk.run(['close', two.job, '--request', 'deadline_timeout']);
    const { code, out } = await waiting.finished;
    expect(code).toBe(1);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; exit: number });
    expect(Object.fromEntries(lines.map(({ id, exit }) => [id, exit]))).toEqual({ [one.job]: 1, [two.job]: 2 });
    await Promise.all([one.running.finished, two.running.finished]);
  });

  it('says that nobody drives the job, and how to resume it; then it may end all the same', async () => {
    const desk = openDesk();
    const job = await endedJob(desk);
    await desk.run(['redispatch', job]);
    const waiting = desk.start(['wait', job]);
    await waiting.shows(`no live driver holds ${job}; to drive it: stepward resume ${job}`);
    const resumed = desk.start(['resume']);
    await resumed.shows('emit failed');
    await desk.run(['cancel', job]);
    expect((await waiting.finished).code).toBe(1);
    expect((await resumed.finished).code).toBe(1);
  });

  it('answers at once for a job that has ended, and leaves it alone at Ctrl-C', async () => {
    const desk = openDesk();
    const job = await endedJob(desk);
    expect((await desk.run(['wait', '@last'])).code).toBe(1);
    const open = await openJob(desk);
    const waiting = desk.start(['wait', open.job]);
    await waiting.shows(open.job);
    waiting.signal('SIGINT');
    expect(await waiting.finished).toMatchObject({ code: 130, out: '' });
    expect(await desk.json(['status', open.job])).toMatchObject({ status: 'running' });
    expect(job).not.toBe(open.job);
    await desk.run(['cancel', open.job]);
    await open.running.finished;
  });
});

describe('resume', () => {
  it('leaves a job alone that somebody drives', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const all = await desk.run(['resume']);
    expect(all).toMatchObject({ code: 0, err: 'nothing to resume: live drivers hold all 1 open jobs\n' });
    const named = await desk.run(['resume', job]);
    expect(named.code).toBe(4);
    expect(named.err).toContain(`${job} is not resumed: pid ${running.pid} on `);
    await desk.run(['cancel', job]);
    await running.finished;
    // Ended: nothing to drive, and its own exit code.
    expect((await desk.run(['resume', job])).code).toBe(1);
  });
});

describe('the commands that look', () => {
  it('tell of an open job what it is, since when, until when, and what to do', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const explained = await desk.run(['explain', job]);
    expect(explained.code).toBe(0);
    expect(explained.out).toMatch(
      new RegExp(`^${job} is running \\(injected.hidden\\) since .* ago: the agent has the brief`),
    );
    expect(explained.out).toMatch(/until .* \(in 9m\d+s\), then: failed idle_timeout \(exit 2\)/);
    expect(explained.out).toMatch(/until .* \(in 59m\d+s\), then: failed deadline_timeout \(exit 2\)/);
    expect(explained.out).toContain(`driven by pid ${running.pid} on `);
    expect(explained.out).toContain(`stepward cancel ${job}`);
    expect(explained.out).toMatch(/emit completed --job/);

    const status = await desk.json(['status', job]);
    expect(status).toMatchObject({ status: 'running', exit: null, reason: null });
    const left = Date.parse(status.until as string) - Date.parse(status.since as string);
    expect(left).toBe(600_000);

    const [listed] = (await desk.run(['ps', '--json'])).out.trimEnd().split('\n');
    expect(JSON.parse(listed!)).toEqual((({ report: _, files: __, ...rest }) => rest)(status));
    expect((await desk.run([])).out).toMatch(new RegExp(`^running +${job} .* stepward explain ${job}\n$`));
    await desk.run(['cancel', job]);
    await running.finished;
    expect((await desk.run(['ps'])).out).toBe('');
    expect((await desk.run(['ps', '-a'])).out).toMatch(new RegExp(`^cancelled cancelled +${job} `));
  });

  it('print the log as lines and as JSON, and end when their reader goes away', async () => {
    const desk = openDesk();
    const { running, job } = await openJob(desk);
    const lines = (await desk.run(['logs', job])).out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d {3}1\/v1 +queued +kernel registered$/);
    const objects = (await desk.run(['logs', job, '--json'])).out.trimEnd().split('\n');
    expect(objects).toHaveLength(lines.length);
    expect(JSON.parse(objects[0]!)).toMatchObject({ job, attempt: 1, version: 1, what: 'registered' });
    expect(objects.join()).not.toMatch(/"(?:key|sig)"/);

    const following = desk.start(['logs', job, '-f']);
    await following.shows('registered');
    following.closeStdout();
    await desk.run(['emit', 'progress', '--job', job, '--attempt', '1', '--detail', 'on it']);
    expect((await following.finished).code).toBe(0);
    await desk.run(['cancel', job]);
    await running.finished;
  });
});
