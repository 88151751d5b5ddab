// Whole jobs over the bus: agents that reach us by MQTT alone, brokers that die, the original's T1-4, T1-5, D-2 and D-9.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificates } from '../signals/bus/certificates.ts';
import { startMosquitto } from '../signals/bus/mosquitto.ts';
import { freePort } from '../support/ports.ts';
import { agentFile, type Project, processesIn, project, registered } from './support.ts';

const ENDS = ['completed', 'failed', 'cancelled'];

/** A project whose agent `worker` behaves so. */
function withWorker(behaviour: string, ways: string[] = ['bus'], more: object = {}): Project {
  const p = project();
  const command = [process.execPath, agentFile, behaviour, p.countFile];
  const config = { agents: { worker: { kind: 'command', command, ways } }, ...more };
  writeFileSync(join(p.dir, 'stepward.config.json'), JSON.stringify(config));
  return p;
}
const certificates = makeCertificates();
/** What docs/bus.md tells people to give their broker. */
const aclOfTheGuide = (): string =>
  /^```conf file=stepward\.acl\n([\s\S]*?)^```/m.exec(readFileSync(guide, 'utf8'))?.[1] ?? 'nothing found';
const guide = fileURLToPath(new URL('../../docs/bus.md', import.meta.url));
const delegate = (...flags: string[]): string[] => ['delegate', '--agent', 'worker', '--prompt', 'x', ...flags];
const on = (url: string) => ({ env: { STEPWARD_MQTT_URL: url } });

/** Every event of the agent once, taken, and one end. */
async function tookOnce(p: Project, id: string, ...events: string[]): Promise<void> {
  const log = await p.log(id);
  const taken = log.filter(({ from, verdict }) => from === 'agent' && verdict === 'take').map(({ what }) => what);
  expect(taken).toEqual(events);
  expect(new Set(log.filter(({ phase }) => ENDS.includes(String(phase))).map(({ phase }) => phase)).size).toBe(1);
}

describe('an agent that has only the bus', () => {
  it('is heard by the embedded broker, without anything set up', async () => {
    const p = withWorker('completes');
    const { code, stderr } = await p.run(delegate());
    expect(code, stderr).toBe(0);
    await tookOnce(p, registered(stderr), 'started', 'progress', 'completed');
    const ways = (await p.log(registered(stderr))).flatMap(({ data }) => (data as { way?: string })?.way ?? []);
    expect(ways.filter((way) => way === 'spool')).toEqual([]);
  });

  it('T1-4 the broker cannot be reached: exit 3 at the deadline, nothing was started, and it was told why', async () => {
    const p = withWorker('completes');
    const port = await freePort();
    const { code, stderr } = await p.run(delegate('--timeout', '8s'), on(`mqtt://127.0.0.1:${port}`));
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(`warning: `);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(await p.status(registered(stderr))).toMatchObject({ status: 'cancelled', reason: 'bus_away', exit: 3 });
    expect(p.starts()).toEqual([]);
  });

  it('T1-4 the broker dies after the delivery and stays away: exit 3, failed, the agent stopped', async () => {
    const p = withWorker('waitsForFile');
    const broker = await startMosquitto();
    const driver = p.start(delegate('--timeout', '8s', '--idle-timeout', '2s'), on(broker.url));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    await broker.kill();
    const { code, stderr } = await driver.ended;
    expect(code, stderr).toBe(3);
    expect(await p.status(id)).toMatchObject({ status: 'error', reason: 'bus_away', exit: 3 });
    // The disk was read again and again meanwhile.
    const reads = (await p.log(id)).filter(({ what }) => what === 'done readDisk');
    expect(reads.length).toBeGreaterThan(1);
    expect(processesIn(p.dir)).toEqual([]);
  });

  it('T1-5 completed appears on the disk while the broker is away: exit 0', async () => {
    const p = withWorker('waitsForFile');
    const broker = await startMosquitto();
    const driver = p.start(delegate('--timeout', '50s'), on(broker.url));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    await broker.kill();
    await expect.poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 }).toContain('bus.lost');
    writeFileSync(join(p.dir, 'go'), '');
    const { code, stderr } = await driver.ended;
    expect(code, stderr).toBe(0);
    await tookOnce(p, id, 'started', 'completed');
  });

  it.each([false, true])(
    'outlives a broker with TLS, passwords and ACLs that is killed and comes back (persistence %s)',
    async (persistence) => {
      const agent = { username: 'agent', password: 'agents have this' };
      const bus = { username: 'driver', password: 'drivers have this', ca: certificates.ca, agent };
      const p = withWorker('waitsForFile', ['bus'], { bus });
      const users = { driver: bus.password, agent: agent.password };
      const broker = await startMosquitto({ persistence, tls: certificates, users, acl: aclOfTheGuide() });
      const driver = p.start(delegate(), on(broker.url));
      const id = await driver.says(/registered job: (\S+)/);
      await expect
        .poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 })
        .toContain('started');
      await broker.kill();
      await driver.says(/warning: .*bus|warning: .*broker/);
      writeFileSync(join(p.dir, 'go'), '');
      await broker.start();
      const { code, stderr } = await driver.ended;
      expect(code, stderr).toBe(0);
      await tookOnce(p, id, 'started', 'completed');
      expect(p.starts()).toHaveLength(1);
    },
  );

  it('comes back when the driver that ran the embedded broker is killed, and so does that driver’s job', async () => {
    const p = withWorker('waitsForFile');
    const first = p.start(delegate());
    const one = await first.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(one)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    const second = p.start(delegate());
    const two = await second.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(two)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    first.child.kill('SIGKILL');
    await first.ended;
    const third = p.start(['resume', one]);
    await third.says(/resuming/);
    writeFileSync(join(p.dir, 'go'), '');
    const ended = await Promise.all([second.ended, third.ended]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    await tookOnce(p, one, 'started', 'completed');
    await tookOnce(p, two, 'started', 'completed');
    expect(p.starts()).toHaveLength(2);
  });
});

describe('everybody else', () => {
  it('does not need the bus: no broker for the whole run, a warning, the same outcome', async () => {
    const p = withWorker('completes', ['inbox', 'bus', 'spool']);
    const { code, stderr } = await p.run(delegate(), on(`mqtt://127.0.0.1:${await freePort()}`));
    expect(code, stderr).toBe(0);
    await tookOnce(p, registered(stderr), 'started', 'progress', 'completed');
  });

  it('does not wait for a black hole', async () => {
    const holes: import('node:net').Socket[] = [];
    const hole = createServer((socket) => holes.push(socket)).listen(0, '127.0.0.1');
    onTestFinished(() => {
      for (const socket of holes) socket.destroy();
      hole.close();
    });
    await new Promise((resolve) => hole.once('listening', resolve));
    const { port } = hole.address() as { port: number };
    const p = withWorker('completes', ['inbox', 'bus', 'spool']);
    const { code, stderr } = await p.run(delegate(), on(`mqtt://127.0.0.1:${port}`));
    expect(code, stderr).toBe(0);
    const doctor = await p.run(['doctor'], on(`mqtt://127.0.0.1:${port}`));
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/problem +bus .*127\.0\.0\.1/);
  });
});

describe('the vocabulary (D-9)', () => {
  it('is one: a cancelled job is cancelled for its driver, its agent and whoever watches the bus', async () => {
    const p = withWorker('waitsForFile', ['inbox', 'bus', 'spool']);
    const broker = await startMosquitto();
    const driver = p.start(delegate(), on(broker.url));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    const watching = p.start(['watch', id, '--bus', '--json'], on(broker.url));
    await watching.says(/"status":"running"/);
    expect((await p.run(['cancel', id], on(broker.url))).code).toBe(0);
    const { code } = await driver.ended;
    expect(code).toBe(1);
    const watched = await watching.ended;
    expect(watched.code).toBe(0);
    const last = JSON.parse(watched.stdout.trimEnd().split('\n').at(-1) ?? '') as object;
    expect(last).toMatchObject({ id, status: 'cancelled', state: 'cancelled', reason: 'cancelled', exit: 1 });
  });

  it('leaves no subscriber behind (D-2): not after a dry run, an interrupt or an end', async () => {
    const p = withWorker('waitsForFile', ['inbox', 'bus', 'spool']);
    const broker = await startMosquitto();
    expect((await p.run(delegate('--dry-run'), on(broker.url))).code).toBe(0);
    expect(processesIn(p.dir)).toEqual([]);
    const driver = p.start(delegate(), on(broker.url));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(async () => (await p.log(id)).map(({ what }) => what), { timeout: 20_000 }).toContain('started');
    driver.child.kill('SIGINT');
    expect((await driver.ended).code).toBe(130);
    await expect.poll(() => processesIn(p.dir), { timeout: 10_000 }).toEqual([]);
  });
});

describe('watch --bus', () => {
  it('takes prefixes and @last, the newest version of each job, and only what stands on the job’s own topic', async () => {
    const p = project();
    const broker = await startMosquitto();
    const state = (id: string, version: number, word: string) =>
      JSON.stringify({
        v: 1,
        id,
        machine: 'job@1',
        status: 'running',
        state: word,
        attempt: 1,
        version,
        exit: null,
        reason: null,
        since: '2030-01-01T00:00:00.000Z',
        until: null,
      });
    const publish = (on: string, payload: string) =>
      execFileSync('mosquitto_pub', [
        '-h',
        '127.0.0.1',
        '-p',
        String(broker.port),
        '-q',
        '1',
        '-r',
        '-t',
        `stepward/v1/jobs/${on}/state`,
        '-m',
        payload,
      ]);
    publish('2aaaaaaaaa', state('2aaaaaaaaa', 5, 'old.job'));
    publish('2bbbbbbbbb', state('2bbbbbbbbb', 7, 'newest.version'));
    const [last, prefix, all] = [['@last'], ['2aaa'], []].map((jobs) =>
      p.start(['watch', '--bus', ...jobs], on(broker.url)),
    );
    await last!.says(/2bbbbbbbbb .*newest\.version/);
    await prefix!.says(/2aaaaaaaaa .*old\.job/);
    await all!.says(/newest\.version/);
    publish('2bbbbbbbbb', state('2bbbbbbbbb', 6, 'late.version'));
    publish('2aaaaaaaaa', state('2bbbbbbbbb', 9, 'other.topic'));
    publish('2bbbbbbbbb', 'garbage');
    publish('2bbbbbbbbb', state('2bbbbbbbbb', 8, 'the.end'));
    await all!.says(/the\.end/);
    await last!.says(/the\.end/);
    for (const one of [last, prefix, all]) one!.child.kill('SIGINT');
    const said = await Promise.all([last!.ended, prefix!.ended, all!.ended]);
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(said.map(({ stdout }) => stdout).join('')).not.toMatch(/late\.version|other\.topic/);
    expect(said[0]!.stdout).not.toContain('2aaaaaaaaa');
    expect(said[1]!.stdout).not.toContain('2bbbbbbbbb');
  });

  it('says who is missing where the embedded broker has no driver, and refuses what is no job', async () => {
    const p = project();
    const driver = p.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    await driver.says(/emit completed/);
    driver.child.kill('SIGINT');
    await driver.ended;
    const watching = await p.run(['watch', '--bus']);
    expect(watching.code).toBe(1);
    expect(watching.stderr).toMatch(/nobody drives a job .*without --bus/);
    expect((await p.run(['watch', '--bus', '+'])).code).toBe(64);
    // A wrong setting does not keep anybody from ending a job.
    const cancelled = await p.run(['cancel', '@last'], on('garbage'));
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(cancelled.stderr).toContain('warning: STEPWARD_MQTT_URL');
    expect((await p.run(delegate(), on('garbage'))).code).toBe(64);
  });
});
