// Whatever an agent does to the files it was given, and whatever somebody puts into the inbox: time passes, a person is heard, and
// nothing is believed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { type Project, processesIn, project, registered } from './support.ts';

const shell = (p: Project, script: string): string[] => {
  writeFileSync(join(p.dir, 'agent.sh'), `S=.stepward/$STEPWARD_JOB/$STEPWARD_ATTEMPT\n${script}\n`);
  return ['--', 'sh', 'agent.sh'];
};

describe('an agent that spoils its files', () => {
  it.each([
    ['the spool is a file', 'rm -rf $S/spool; echo x > $S/spool; exec sleep 60'],
    ['the spool is a link elsewhere', 'rm -rf $S/spool; ln -s /tmp $S/spool; exec sleep 60'],
    ['the folder of refused files is a file', 'touch $S/spool/refused; echo junk > $S/spool/x.json; exec sleep 60'],
    ['a name that leaves no room', 'echo junk > $S/spool/$(printf "a%.0s" $(seq 250)); exec sleep 60'],
    ['.stepward is a file', 'rm -rf .stepward/$STEPWARD_JOB; touch .stepward/$STEPWARD_JOB; exec sleep 60'],
  ])('%s: the idle clock ends the job all the same', async (_, script) => {
    const p = project();
    const args = ['delegate', '--agent', 'command', '--prompt', 'x', '--timeout', '20s', '--idle-timeout', '1s'];
    const { code, stderr } = await p.run([...args, ...shell(p, script)]);
    expect(code, stderr).toBe(2);
    expect(processesIn(p.dir)).toEqual([]);
    expect(await p.status(registered(stderr))).toMatchObject({ status: 'error', cleanup: 'done' });
  });

  it('a working directory that is gone: a person can still end the job', async () => {
    const p = project();
    const work = join(p.dir, 'work');
    mkdirSync(work);
    const registry = join(p.dir, 'registry');
    const where = ['--registry', registry];
    const args = ['delegate', '--agent', 'command', '--prompt', 'x', '--cwd', work, ...where];
    const driver = p.start([...args, '--', 'sleep', '60']);
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/notBegun|hidden|working/);
    driver.child.kill('SIGKILL');
    await driver.ended;
    rmSync(work, { recursive: true });
    expect((await p.run(['cancel', id, ...where])).code).toBe(0);
    expect(await p.status(id, ...where)).toMatchObject({ status: 'cancelled' });
    expect(processesIn(p.dir)).toEqual([]);
  });
});

describe('an inbox that somebody has written to', () => {
  const forged = (work: number): [string, string][] => [
    ['no JSON', 'junk'],
    ['no envelope', '{"from":"agent","id":"f","envelope":null}'],
    ['no event', '{"from":"person","id":"f","event":null}'],
    ['an effect’s result', `{"from":"effect","id":"f","outboxId":${work},"event":{"type":"xstate.done.actor.watch"}}`],
    ['a clock', '{"from":"clock","id":"f","timer":{"id":"x","armedVersion":1}}'],
  ];

  it('refuses what cannot come from outside, logs it, and goes on', async () => {
    const p = project();
    const driver = p.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/emit completed/);
    const dir = join(p.dir, '.stepward');
    const registry = await openSqliteRegistry({ dir, clock: systemClock });
    const watch = (await registry.openWork(id))[0]?.id ?? 1;
    const db = (await loadDriver()).open(join(dir, 'registry.db'), false);
    const insert = db.prepare("INSERT INTO inbox (id, job, request, way, received_at) VALUES (?, ?, ?, 'spool', 1)");
    for (const [name, request] of forged(watch)) insert.run(`forged ${name}`, id, request);
    db.close();
    await expect.poll(async () => (await registry.undecided(id)).length, { timeout: 10_000 }).toBe(0);
    for (const [name] of forged(watch)) {
      expect((await registry.inboxRow(`forged ${name}`))?.answer, name).toMatchObject({ reason: 'malformed' });
    }
    await registry.close();
    expect(await p.status(id)).toMatchObject({ status: 'running' });
    expect((await p.run(['cancel', id])).code).toBe(0);
    await driver.ended;
  });
});

it('a process whose work is over before it has a result ends with an error, never with 0', async () => {
  const p = project();
  writeFileSync(join(p.dir, 'stepward.config.ts'), 'await new Promise(() => {});\nexport default {};\n');
  const { code, stderr } = await p.run(p.delegate('completes', '--dry-run'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/without a result/);
});
