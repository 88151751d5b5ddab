// What an agent that is a plain process is given, how its end is told, and what happens when it cannot start.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isAlive } from '../../src/transports/process.ts';
import type { Place } from '../../src/transports/transport.ts';
import { eventually } from './eventually.ts';
import { createStepBook } from './hand.ts';
import { agent } from './headless-rig.ts';
import { ended, fileOf, inject, json, look, pidOf, rig, use } from './headless-suite.ts';
import { processesOf } from './leaks.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('what the agent is given', () => {
  it('is the brief on its standard input, its path for {brief}, and its working directory', async () => {
    use([agent('worker'), '--read={brief}', 'a b', '$HOME;`id`']);
    expect(await inject()).toBe('accepted');
    await eventually(() => rig.log('out').endsWith('\n'));
    expect(rig.told('stdin')).toBe('Repair it.\n');
    expect(rig.log('out')).toBe(`${rig.place.cwd} --read=${rig.place.brief} a b $HOME;\`id\`\n`);
  });

  it('is the path of the brief as it is, even where `$$` and `$&` are in it', async () => {
    use([agent('worker'), '{brief}', '{brief}']);
    const odd = join(rig.dir, 'dol$$x$&');
    mkdirSync(odd);
    const brief = join(odd, 'brief.md');
    copyFileSync(rig.place.brief, brief);
    expect(await inject({ ...rig.place, brief })).toBe('accepted');
    await eventually(() => rig.log('out').endsWith('\n'));
    expect(rig.log('out')).toBe(`${rig.place.cwd} ${brief} ${brief}\n`);
  });

  it('is exactly the environment of the place, whatever runs around the driver', async () => {
    const hostile = { TMUX: '/tmp/tmux', HERDR_SOCKET_PATH: '/x', CLAUDECODE: '1', CODEX_HOME: '/x', NODE_OPTIONS: '' };
    for (const [name, value] of Object.entries(hostile)) vi.stubEnv(name, value);
    use(['/usr/bin/env']);
    const env = { ...rig.place.env, ONLY: 'this' };
    expect(await inject({ ...rig.place, env })).toBe('accepted');
    await ended();
    expect(rig.log('out').trim().split('\n').sort()).toEqual(
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .sort(),
    );
  });

  it('is found by the PATH of the place', async () => {
    use(['my-agent']);
    const bin = join(rig.dir, 'bin');
    mkdirSync(bin);
    copyFileSync(agent('worker'), join(bin, 'my-agent'));
    chmodSync(join(bin, 'my-agent'), 0o755);
    const place = { ...rig.place, env: { ...rig.place.env, PATH: `${bin}:${rig.place.env.PATH}` } };
    await rig.transport.preflight(place);
    expect(await inject(place)).toBe('accepted');
    await eventually(() => rig.starts().length === 1);
  });

  it('is kept from other users: the run directory and what is in it', async () => {
    use(['/bin/true']);
    await inject();
    await ended();
    for (const name of ['launch.json', 'started', 'child.json', 'exit.json', 'out.log', 'err.log']) {
      expect(statSync(fileOf(name)).mode & 0o077, name).toBe(0);
    }
    expect(statSync(rig.place.runDir).mode & 0o077).toBe(0);
  });
});

describe('how it ends', () => {
  for (const [script, detail] of [
    ['exit 0', 'exited with code 0'],
    ['exit 3', 'exited with code 3'],
    ['kill -KILL $$', 'killed by SIGKILL'],
    ['kill -TERM $$', 'killed by SIGTERM'],
  ] as const) {
    it(`is told: ${detail}`, async () => {
      use(['/bin/sh', '-c', script]);
      expect(await inject()).toBe('accepted');
      expect(await ended()).toEqual({ alive: false, hold: null, turn: 'hidden', nonce: true, clean: true, detail });
    });
  }

  it('loses nothing of 300 KB on each output', async () => {
    use([agent('loud')]);
    expect(await inject()).toBe('accepted');
    expect((await ended()).detail).toBe('exited with code 0');
    expect(rig.log('out')).toBe('o'.repeat(307_200));
    expect(rig.log('err')).toBe('e'.repeat(307_200));
  });

  it('is told even after SIGTERM and SIGHUP to the launcher, which do not end the agent', async () => {
    use();
    await inject();
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.kill(pidOf('started'), signal);
    expect(await look()).toMatchObject({ alive: true });
    rig.tell('finish', '7');
    expect((await ended()).detail).toBe('exited with code 7');
  });

  it('is not known when launcher and agent are both killed', async () => {
    use();
    await inject();
    process.kill(pidOf('started'), 'SIGKILL');
    await eventually(() => !isAlive(json('started')));
    expect(await look()).toMatchObject({ alive: true, nonce: true, detail: null });
    const waiting = rig.transport.change(rig.place, 2 ** 31 - 1, new AbortController().signal);
    process.kill(-pidOf('child.json'), 'SIGKILL');
    // Nothing is written any more: only the poll can see it.
    await waiting;
    expect((await ended()).detail).toBe('the process is gone without an exit status');
  });
});

describe('a start that fails', () => {
  const failing: [string, (place: Place) => Place, RegExp][] = [
    [
      'command not found',
      (place) => ({ ...place, argv: ['no-such-agent'] }),
      /did not start: spawn no-such-agent ENOENT/,
    ],
    ['not executable', (place) => ({ ...place, argv: [place.brief] }), /did not start: spawn .*brief\.md EACCES/],
    [
      'no working directory',
      (place) => ({ ...place, cwd: '/no/such' }),
      /did not start: no working directory \/no\/such/,
    ],
    ['no brief', (place) => ({ ...place, brief: '/no/brief' }), /did not start: ENOENT.*\/no\/brief/],
    [
      'arguments too long',
      (place) => ({ ...place, argv: ['/bin/true', 'x'.repeat(1 << 20)] }),
      /did not start: spawn E2BIG/,
    ],
  ];
  for (const [why, change, detail] of failing) {
    it(`is rejected and says why: ${why}`, async () => {
      use();
      expect(await inject(change(rig.place))).toBe('rejected');
      const seen = await look();
      expect(seen).toMatchObject({ alive: false, nonce: false, clean: true });
      expect(seen.detail).toMatch(detail);
      expect(await inject()).toBe('rejected');
      expect(rig.starts()).toEqual([]);
    });
  }

  it('is rejected, and can never happen later, when no launcher comes up', async () => {
    use();
    const broken = rig.transportWith({ launcher: join(rig.dir, 'none.mjs') });
    await expect(broken.preflight(rig.place)).rejects.toThrow(/none\.mjs is missing/);
    const book = createStepBook();
    const hand = async () => book.hand({ driver: 'd1', fence: await rig.newest() });
    expect(await broken.inject(rig.place, await hand())).toBe('rejected');
    expect(await rig.transport.inject(rig.place, await hand())).toBe('rejected');
    expect(rig.starts()).toEqual([]);
  });
});

describe('the launcher', () => {
  const run = (...args: string[]) =>
    new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, [rig.options.launcher, ...args], { stdio: 'ignore' });
      child.once('error', reject).once('exit', (code) => resolve(code));
    });

  it('starts one agent for one run directory, however many come at once', async () => {
    use();
    mkdirSync(rig.place.runDir);
    const { argv, cwd, env, brief } = rig.place;
    writeFileSync(fileOf('launch.json'), JSON.stringify({ argv, cwd, env, brief }));
    const all = Array.from({ length: 8 }, () => run(rig.place.runDir));
    await eventually(() => rig.starts().length > 0);
    // All but the one that has the mark end at once; when it alone is left, nobody can start anything any more.
    await eventually(() => processesOf(rig.dir).filter(({ command }) => command.includes('launcher.mjs')).length === 1);
    rig.tell('finish', '0');
    expect(await Promise.all(all)).toEqual(Array(8).fill(0));
    expect(rig.starts()).toHaveLength(1);
    expect(await run(rig.place.runDir)).toBe(0);
    expect(rig.starts()).toHaveLength(1);
  });

  it('refuses to guess: no run directory, or none that exists', async () => {
    use();
    expect(await run()).toBe(64);
    expect(await run(join(rig.dir, 'none'))).toBe(1);
  });
});
