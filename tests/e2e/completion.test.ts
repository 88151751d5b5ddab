// Every line "Completion" of the acceptance list (field reports) that needs neither a bus nor a live agent: real processes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Project, processesIn, project, registered } from './support.ts';

const emit = (p: Project, event: string, job: string, attempt: number | string, ...rest: string[]) =>
  p.run(['emit', event, '--job', job, '--attempt', String(attempt), ...rest]);

/** A job that a person works on, so that the test can speak as the agent. */
async function humanJob(p: Project, ...flags: string[]) {
  const driver = p.start(['delegate', '--agent', 'human', '--prompt', 'x', ...flags]);
  const id = await driver.says(/registered job: (\S+)/);
  await driver.says(/emit completed/);
  return { driver, id };
}

function report(p: Project): string {
  const path = join(p.dir, 'report.md');
  writeFileSync(path, '# Report\n');
  return path;
}

describe('completion', () => {
  it('a signed report whose manifest verifies: completed, exit 0', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('completes'));
    expect(code).toBe(0);
    const id = registered(stderr);
    expect(await p.status(id)).toMatchObject({ status: 'completed', exit: 0, reason: 'reported' });
    expect(readFileSync(join(p.dir, 'result.txt'), 'utf8')).toBe('done\n');
    expect(existsSync(join(p.dir, '.stepward', id, '1', 'key'))).toBe(false);
  });

  it('the event twice: one acceptance, and the second is told that it is so already', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('completesTwice'));
    expect(code).toBe(0);
    const log = await p.log(registered(stderr));
    const taken = log.filter(({ what, verdict }) => what === 'completed' && verdict === 'take');
    expect(taken).toHaveLength(1);
  });

  it('completed, then failed: the first end stands and the second is refused', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('completesThenFails'));
    expect(code).toBe(0);
    expect(await p.status(registered(stderr))).toMatchObject({ status: 'completed' });
  });

  it('an event from attempt n − 1: refused, exit 4, told, and nothing moves', async () => {
    const p = project();
    const { driver, id } = await humanJob(p);
    expect((await emit(p, 'completed', id, 1, '--report', report(p))).code).toBe(0);
    await driver.ended;
    await p.run(['redispatch', id]);
    const second = p.start(['resume', id]);
    await second.says(/emit completed/);
    const late = await emit(p, 'completed', id, 1);
    expect(late.code).toBe(4);
    expect(late.stderr).toMatch(/refused/);
    expect(await p.status(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect((await emit(p, 'completed', id, 2, '--report', report(p))).code).toBe(0);
    expect((await second.ended).code).toBe(0);
  });

  it('an event for a row that is not there (yet): refused, exit 4', async () => {
    const p = project();
    const { driver, id } = await humanJob(p);
    const { code, stderr } = await emit(p, 'started', 'nosuchjob', 1);
    expect(code).toBe(4);
    expect(stderr).toMatch(/refused/);
    driver.child.kill('SIGINT');
    await driver.ended;
    expect((await p.status(id)).status).toBe('running');
  });

  it('an event after the deadline: the timeout stands, exit 4', async () => {
    const p = project();
    const { driver, id } = await humanJob(p, '--timeout', '1s');
    expect((await driver.ended).code).toBe(2);
    const late = await emit(p, 'completed', id, 1, '--report', report(p));
    expect(late.code).toBe(4);
    expect(await p.status(id)).toMatchObject({ status: 'error', reason: 'deadline_timeout' });
  });

  it('an event signed with the wrong key: refused, logged, nothing else', async () => {
    const p = project();
    const { driver, id } = await humanJob(p);
    writeFileSync(join(p.dir, '.stepward', id, '1', 'key'), 'f'.repeat(64));
    const forged = await emit(p, 'failed', id, 1);
    expect(forged.code).toBe(4);
    expect(forged.stderr).toMatch(/bad_signature/);
    expect((await p.log(id)).find(({ reason }) => reason === 'bad_signature')).toBeTruthy();
    expect(await p.status(id)).toMatchObject({ status: 'running' });
    driver.child.kill('SIGINT');
    await driver.ended;
  });

  it('idle without an event: exit 2, never a success', async () => {
    const p = project();
    const { driver, id } = await humanJob(p, '--idle-timeout', '1s');
    expect((await driver.ended).code).toBe(2);
    expect(await p.status(id)).toMatchObject({ reason: 'idle_timeout' });
  });

  it('completed without a report: exit 64, nothing is sent', async () => {
    const p = project();
    const { driver, id } = await humanJob(p);
    const { code, stderr } = await emit(p, 'completed', id, 1);
    expect(code).toBe(64);
    expect(stderr).toMatch(/--report/);
    expect((await p.log(id)).some(({ what }) => what === 'completed')).toBe(false);
    driver.child.kill('SIGINT');
    await driver.ended;
  });

  it.each(['altersItsReport', 'removesItsArtifact'])(
    '%s after completed: failed report_invalid, exit 1',
    async (behaviour) => {
      const p = project();
      const { code, stderr } = await p.run(p.delegate(behaviour));
      expect(code).toBe(1);
      expect(await p.status(registered(stderr))).toMatchObject({ status: 'error', reason: 'report_invalid' });
    },
  );

  it.each([
    ['exitsSilently', 0],
    ['exitsWithThree', 3],
  ])('a process that ends without a report (%s, code %i): failed agent_exited, exit 1', async (behaviour, exitCode) => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate(behaviour));
    expect(code).toBe(1);
    const id = registered(stderr);
    expect(await p.status(id)).toMatchObject({ status: 'error', reason: 'agent_exited' });
    expect((await p.run(['explain', id])).stdout).toContain(`code ${exitCode}`);
  });

  it('a permission that nobody gives: failed permission_timeout, exit 2', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('asksAndWaits', '--permission-timeout', '1s'));
    expect(code).toBe(2);
    expect(await p.status(registered(stderr))).toMatchObject({ reason: 'permission_timeout' });
  });

  it('a cancel by a person: exit 1, the agent is gone', async () => {
    const p = project();
    const driver = p.start(p.delegate('waitsForFile'));
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/working|notBegun/);
    expect((await p.run(['cancel', id])).code).toBe(0);
    expect((await driver.ended).code).toBe(1);
    expect(await p.status(id)).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
    expect(processesIn(p.dir)).toEqual([]);
  });
});
