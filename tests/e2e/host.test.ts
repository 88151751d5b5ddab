// `stepward host`: one per registry, adopts what nobody drives, lets go when it is asked to.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { hostStatus, linesOf, orphan, registryOf, says, startHost, stop } from './host-support.ts';
import { type Project, project } from './support.ts';

const claimsOf = async (p: Project, id: string) => (await p.log(id)).filter(({ what }) => what === 'claimed');

describe('two hosts at the same instant', () => {
  it('one wins, the other says who it is, no row is driven by both; 20 rounds', async () => {
    const p = project();
    const jobs = [await orphan(p), await orphan(p)];
    for (let round = 1; round <= 20; round++) {
      const hosts = [p.start(['host']), p.start(['host'])];
      const first = await Promise.race(hosts.map((host) => host.ended.then(({ code }) => ({ host, code }))));
      const winner = hosts.find((host) => host !== first.host)!;
      expect(first.code).toBe(4);
      const refused = linesOf(first.host.heard());
      expect(refused).toMatchObject([{ what: 'refused', level: 'error', holder: { pid: winner.child.pid } }]);
      expect(refused[0]?.message).toMatch(/runs already: pid \d+ on \S+ since \d{4}-/);
      for (const job of jobs) await says(winner, 'adopted', job);
      winner.child.kill('SIGTERM');
      expect((await winner.ended).code).toBe(0);
      for (const job of jobs) expect(await claimsOf(p, job)).toHaveLength(round + 1);
    }
  });
});

describe('a host', () => {
  it('adopts a row whose delegate was killed, and one that comes later, and drives them to their ends', async () => {
    const p = project();
    const driver = p.start(p.delegate('waitsForFile'));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(() => p.starts().length).toBe(1);
    driver.child.kill('SIGKILL');
    await driver.ended;
    const host = await startHost(p);
    await says(host, 'adopted', id);
    const later = await orphan(p);
    await says(host, 'adopted', later);
    expect((await hostStatus(p)).drives.toSorted()).toEqual([id, later].toSorted());
    writeFileSync(join(p.dir, 'go'), '');
    await says(host, 'ended', id);
    const ended = linesOf(host.heard()).find(({ what }) => what === 'ended');
    expect(ended).toMatchObject({ level: 'info', status: 'completed', reason: 'reported', exit: 0, attempt: 1 });
    expect(p.starts()).toHaveLength(1);
    expect((await p.run(['cancel', later])).code).toBe(0);
    await says(host, 'ended', later);
    await stop(p);
    expect((await host.ended).code).toBe(0);
    expect(linesOf(host.heard()).map(({ what }) => what)).toEqual([
      'started',
      'adopted',
      'adopted',
      'ended',
      'ended',
      'stopping',
    ]);
  });

  it('leaves alone what a foreground command drives, from the first moment', async () => {
    const p = project();
    const host = await startHost(p);
    for (let round = 0; round < 3; round++) {
      const { code, stderr } = await p.run(p.delegate('completes'));
      expect(code, stderr).toBe(0);
    }
    const driver = p.start(p.delegate('waitsForFile'));
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/working|notBegun/);
    expect((await hostStatus(p)).drives).toEqual([]);
    writeFileSync(join(p.dir, 'go'), '');
    expect((await driver.ended).code).toBe(0);
    expect(await claimsOf(p, id)).toHaveLength(1);
    host.child.kill('SIGTERM');
    expect(linesOf((await host.ended).stderr).map(({ what }) => what)).toEqual(['started', 'stopping']);
  });

  it('lets go of its rows when it is asked to end: the agent goes on, the next driver takes over', async () => {
    const p = project();
    const id = await orphan(p, p.delegate('waitsForFile'));
    const host = await startHost(p);
    await says(host, 'adopted', id);
    await expect.poll(() => p.starts().length, { timeout: 20_000 }).toBe(1);
    const [agent = 0] = p.starts();
    await expect.poll(async () => (await p.status(id)).state, { timeout: 20_000 }).toMatch(/^injected/);
    host.child.kill('SIGINT');
    const { code, stderr } = await host.ended;
    expect(code).toBe(0);
    expect(linesOf(stderr).slice(-2)).toMatchObject([
      { what: 'stopping', drives: [id] },
      { what: 'released', job: id },
    ]);
    expect(process.kill(agent, 0)).toBe(true);
    expect((await p.run(['explain', id])).stdout).toContain('no live driver holds it');
    expect(await hostStatus(p)).toMatchObject({ running: false });
    writeFileSync(join(p.dir, 'go'), '');
    expect((await p.run(['resume', id])).code).toBe(0);
    expect(p.starts()).toHaveLength(1);
  });

  it('ends by itself once nothing has been open for long enough, and not before', async () => {
    const p = project();
    const id = await orphan(p, p.delegate('completes'));
    const { code, stderr } = await p.run(['host', '--until-idle', '300ms']);
    expect(code).toBe(0);
    const lines = linesOf(stderr);
    expect(lines.map(({ what }) => what)).toEqual(['started', 'adopted', 'ended', 'stopping']);
    expect(await p.status(id)).toMatchObject({ status: 'completed', cleanup: 'done' });
  });

  it('ends where its registry is removed: nothing could ever come there', async () => {
    const p = project();
    const id = await orphan(p);
    const host = await startHost(p);
    await says(host, 'adopted', id);
    await p.removeRegistry();
    const { code, stderr } = await host.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('was removed or replaced');
  });
});

describe('a registry that another process has locked', () => {
  const lock = async (p: Project) => {
    const db = (await loadDriver()).open(join(registryOf(p), 'registry.db'), false);
    // The host is still writing, now and then.
    const locked = () => {
      try {
        db.exec('BEGIN IMMEDIATE');
        return true;
      } catch {
        return false;
      }
    };
    await expect.poll(locked, { interval: 2, timeout: 20_000 }).toBe(true);
    return () => db.close();
  };

  it('does not keep a host from ending, and a second signal ends it at once', async () => {
    const p = project();
    const id = await orphan(p);
    for (const signals of [1, 2]) {
      const host = await startHost(p);
      await says(host, 'adopted', id);
      const unlock = await lock(p);
      host.child.kill('SIGTERM');
      await host.says(/"what":"stopping"/);
      if (signals === 2) host.child.kill('SIGTERM');
      const { code } = await host.ended;
      unlock();
      expect(code).toBe(signals === 2 ? 130 : 0);
      // Its name, if it is still there, is that of a dead process.
      expect(await hostStatus(p)).toMatchObject({ running: false, pid: null });
    }
  });
});

describe('a host whose files somebody has touched', () => {
  it('leaves another host’s name alone when it ends, and ends when its lock is no longer the one it holds', async () => {
    const p = project();
    const first = await startHost(p);
    rmSync(join(registryOf(p), 'host.lock'));
    const second = await startHost(p);
    const { code, stderr } = await first.ended;
    expect(code).toBe(1);
    expect(linesOf(stderr).find(({ what }) => what === 'stopping')?.message).toMatch(/lock .* was removed or replaced/);
    expect((await hostStatus(p)).pid).toBe(second.child.pid);
    await stop(p);
    expect((await second.ended).code).toBe(0);
  });

  it('writes its name again', async () => {
    const p = project();
    const host = await startHost(p);
    rmSync(join(registryOf(p), 'host.json'));
    await expect.poll(async () => (await hostStatus(p)).pid, { timeout: 20_000 }).toBe(host.child.pid);
    await stop(p);
    expect((await host.ended).code).toBe(0);
  });

  it('ends as it was asked to where its name cannot be removed', async () => {
    const p = project();
    const host = await startHost(p);
    rmSync(join(registryOf(p), 'host.json'));
    mkdirSync(join(registryOf(p), 'host.json', 'x'), { recursive: true });
    host.child.kill('SIGTERM');
    const { code, stderr } = await host.ended;
    expect(code).toBe(0);
    for (const line of linesOf(stderr)) expect(line).toHaveProperty('what');
  });
});

describe('a lock that is damaged', () => {
  it('is told by a host as a line, with what to do', async () => {
    const p = project();
    await orphan(p);
    writeFileSync(join(registryOf(p), 'host.lock'), 'x'.repeat(5000));
    const { code, stderr } = await p.run(['host']);
    expect(code).toBe(1);
    const failed = linesOf(stderr).filter(({ what }) => what === 'failed');
    expect(failed.map(({ message }) => message)).toEqual([expect.stringMatching(/host\.lock is damaged.*remove it/)]);
  });

  it('does not make --detach sound as if no job had been given: 4, and the id', async () => {
    const p = project();
    mkdirSync(registryOf(p));
    writeFileSync(join(registryOf(p), 'host.lock'), 'x'.repeat(5000));
    const { code, stdout, stderr } = await p.run(['delegate', '--agent', 'human', '--prompt', 'x', '--detach']);
    expect(code).toBe(4);
    expect(stdout.trim()).toBe(/registered job: (\S+)/.exec(stderr)?.[1]);
    expect(stderr).toMatch(/stays queued: .*host\.lock is damaged/);
    rmSync(join(registryOf(p), 'host.lock'));
    expect((await p.run(['cancel', '@last'])).code).toBe(0);
  });
});
