// `delegate --detach`: the job outlives the command, its terminal and its shell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quote } from '../../src/transports/quote.ts';
import { hostStatus, logOf, registryOf, startHost, stop } from './host-support.ts';
import { type Project, project, registered, stepward } from './support.ts';

/** `--detach` in front of the agent's command line. */
const detached = (p: Project, behaviour: string, ...flags: string[]) => p.delegate(behaviour, '--detach', ...flags);

describe('delegate --detach', () => {
  it('starts a host, prints the id and returns; the job ends as any other', async () => {
    const p = project();
    const { code, stdout, stderr } = await p.run(detached(p, 'waitsForFile'));
    const id = registered(stderr);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(stderr).toContain(`\nfollow: stepward watch ${id}\nwait: stepward wait ${id}\n`);
    const { running, pid, drives } = await hostStatus(p);
    expect({ running, drives }).toEqual({ running: true, drives: [id] });

    // A second one goes to the same host, and tells its status as JSON.
    const second = await p.run(detached(p, 'completes', '--json'));
    const status = JSON.parse(second.stdout) as { id: string; attempt: number };
    expect(status).toMatchObject({ id: registered(second.stderr), attempt: 1 });
    expect((await p.run(['wait', status.id])).code).toBe(0);
    expect((await hostStatus(p)).pid).toBe(pid);

    writeFileSync(join(p.dir, 'go'), '');
    expect((await p.run(['wait', id])).code).toBe(0);
    expect(p.starts()).toHaveLength(2);
    await stop(p);
    expect(logOf(p).filter(({ what }) => what === 'started')).toHaveLength(1);
  });

  it('uses a host that runs already, and finds the agent by the PATH of its caller', async () => {
    const p = project();
    const bin = join(p.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'my-agent'), `#!/bin/sh\nexec ${p.agent('completes').slice(1).map(quote).join(' ')}\n`);
    chmodSync(join(bin, 'my-agent'), 0o755);
    const host = await startHost(p, [], { env: { PATH: '/usr/bin:/bin' } });
    const args = ['delegate', '--agent', 'command', '--prompt', 'x', '--detach', '--', 'my-agent'];
    const { code, stdout } = await p.run(args, { env: { PATH: `${bin}:${process.env.PATH}` } });
    expect(code).toBe(0);
    expect((await p.run(['wait', stdout.trim()])).code).toBe(0);
    expect(logOf(p)).toEqual([]);
    host.child.kill('SIGTERM');
    expect((await host.ended).code).toBe(0);
  });

  it('survives the terminal that it was given on', async () => {
    const p = project();
    const words = [process.execPath, stepward, ...detached(p, 'waitsForFile')];
    const line = words.map((word) => `'${word}'`).join(' ');
    const terminal = spawn('script', ['-q', '-e', '-c', line, '/dev/null'], {
      cwd: p.dir,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      shown += chunk;
    });
    // With `script` the terminal is gone: everything in its session has been hung up.
    const [code] = await once(terminal, 'close');
    expect([code, shown]).toEqual([0, expect.stringContaining('wait: stepward wait')]);
    const id = registered(shown);
    await expect.poll(() => p.starts().length, { timeout: 20_000 }).toBe(1);
    writeFileSync(join(p.dir, 'go'), '');
    expect((await p.run(['wait', id])).code).toBe(0);
    expect(await p.status(id)).toMatchObject({ status: 'completed', reason: 'reported' });
    await stop(p);
  });

  it('many at once share one host', async () => {
    const p = project();
    const ended = await Promise.all(Array.from({ length: 5 }, () => p.run(detached(p, 'completes'))));
    const ids = ended.map(({ code, stderr }) => {
      expect(code, stderr).toBe(0);
      return registered(stderr);
    });
    expect((await p.run(['wait', ...ids])).code).toBe(0);
    expect(p.starts()).toHaveLength(5);
    for (const id of ids) expect((await p.log(id)).filter(({ what }) => what === 'claimed')).toHaveLength(1);
    await stop(p);
  });

  it('says so where no host can be started, and leaves the job queued', async () => {
    const p = project();
    mkdirSync(join(registryOf(p), 'host.log'), { recursive: true });
    const { code, stdout, stderr } = await p.run(detached(p, 'completes'));
    const id = registered(stderr);
    expect({ code, stdout }).toEqual({ code: 4, stdout: `${id}\n` });
    expect(stderr).toMatch(/nobody drives \S+ yet, it stays queued: no host could be started \(.*EISDIR/);
    expect(stderr).toContain(`stepward resume ${id}`);
    expect(await p.status(id)).toMatchObject({ state: 'queued', exit: null });
    rmSync(join(registryOf(p), 'host.log'), { recursive: true });
    expect((await p.run(['resume', id])).code).toBe(0);
    expect(p.starts()).toHaveLength(1);
  });

  it('says what its host has said last, where that one starts and fails', async () => {
    const p = project();
    // Only the host reads it while it opens the lock.
    mkdirSync(join(registryOf(p), 'host.lock'), { recursive: true });
    const { code, stderr } = await p.run(detached(p, 'completes'));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/host\.lock/);
  });
});
