// `stepward host` inside this process: what it refuses, what it believes of a host.json, and how it bears trouble.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { World } from '../../src/cli/io.ts';
import { runProgram } from '../../src/cli/program.ts';
import { specOf } from '../../src/jobs/spec.ts';
import type { Registry } from '../../src/kernel/ports.ts';
import { RegistryError } from '../../src/registry/errors.ts';
import { type Lock, takeLock } from '../../src/registry/sqlite/lock.ts';
import { selfRecord } from '../../src/transports/process.ts';
import { everything, freshDir, inside, Paper } from './inside.ts';
import { beginJobs } from './registry.ts';

const dirOf = async (registry: Registry) => specOf((await registry.list())[0]!).registryDir;
const told = ({ text }: Paper) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

interface Running {
  paper: Paper;
  /** Asks it to end, as a signal does, and gives the exit code. */
  stop(): Promise<number>;
}
const running = new Set<Running>();
afterEach(async () => {
  for (const host of running) await host.stop();
});

function start(dir: string, world: World = {}, paper = new Paper()): Running {
  const { PATH = '' } = process.env;
  const io = {
    stdin: Readable.from([]),
    stdout: new Paper(),
    stderr: paper,
    env: { PATH, NO_COLOR: '1' },
    cwd: dir,
    world,
  };
  const ended = runProgram(['host', '--registry', dir], io);
  const host: Running = {
    paper,
    stop() {
      running.delete(host);
      process.emit('SIGTERM');
      return ended;
    },
  };
  running.add(host);
  return host;
}
const shows = (paper: Paper, text: string | RegExp) => expect.poll(() => paper.text, { timeout: 20_000 }).toMatch(text);

/** The registry with one of its methods replaced. */
const replacing =
  <Name extends keyof Registry>(name: Name, make: (real: Registry) => Registry[Name]) =>
  (real: Registry): Registry => ({ ...real, [name]: make(real) });

describe('bad input', () => {
  it.each([
    [['--status', '--stop'], '--status, --stop: exclude each other'],
    [['--until-idle', '1m', '--print-unit'], '--until-idle, --print-unit: exclude each other'],
    [['--until-idle', 'soon'], '--until-idle: "soon" is not a duration; allowed: a duration'],
    [['--print-unit', 'cron'], '--print-unit: "cron" is not known; allowed: systemd, launchd'],
    [['now'], 'arguments: are too many'],
  ])('%j is refused and nothing is written', async (args, sentence) => {
    const cwd = freshDir();
    const { exit, err } = await inside(['host', ...args], { cwd });
    expect(exit).toBe(64);
    expect(err).toContain(`error: ${sentence}`);
    expect(everything(cwd)).toEqual([]);
  });

  it('of delegate --detach', async () => {
    const cwd = freshDir();
    const argv = ['delegate', '--agent', 'human', '--prompt', 'x', '--detach', '--dry-run'];
    const { exit, err } = await inside(argv, { cwd });
    expect({ exit, err }).toMatchObject({
      exit: 64,
      err: expect.stringContaining('--detach, --dry-run: exclude each'),
    });
    expect(everything(cwd)).toEqual([]);
  });
});

describe('without a host', () => {
  it('--status says so with 1, --stop with 0; neither makes anything', async () => {
    const cwd = freshDir();
    expect(await inside(['host', '--status'], { cwd })).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/^no host/),
    });
    expect(await inside(['host', '--stop'], { cwd })).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^no host/),
    });
    const { out } = await inside(['host', '--status', '--json'], { cwd });
    expect(JSON.parse(out)).toMatchObject({ running: false, pid: null, since: null, drives: [] });
    expect(everything(cwd)).toEqual([]);
  });
});

describe('a host.json that another host has left', () => {
  const left = (dir: string, over: object) => {
    const { pid, started, host } = selfRecord('x', 'x');
    const record = { pid, started, host, name: 'elsewhere', since: '2030-01-01T00:00:00.000Z', build: '1', ...over };
    writeFileSync(join(dir, 'host.json'), JSON.stringify(record));
  };

  it.each([
    ['whose pid is given to a stranger now', { started: '1' }],
    ['whose pid is gone', { pid: 4_194_303 }],
    ['that is damaged', { pid: -1 }],
  ])('%s misleads nobody', async (_, over) => {
    const registry = await beginJobs('abc1');
    const dir = await dirOf(registry);
    left(dir, over);
    expect((await inside(['host', '--status', '--registry', dir], { cwd: dir })).exit).toBe(1);
    // Were a stranger sent the signal, it would be this very process.
    let signals = 0;
    const count = () => {
      signals++;
    };
    process.on('SIGTERM', count);
    expect((await inside(['host', '--stop', '--registry', dir], { cwd: dir })).exit).toBe(0);
    process.off('SIGTERM', count);
    expect(signals).toBe(0);

    const host = start(dir);
    await shows(host.paper, /"what":"adopted","job":"abc1"/);
    expect(JSON.parse(readFileSync(join(dir, 'host.json'), 'utf8'))).toMatchObject({ pid: process.pid });
    const { exit, out } = await inside(['host', '--status', '--json', '--registry', dir], { cwd: dir });
    expect({ exit, ...JSON.parse(out) }).toMatchObject({ exit: 0, running: true, pid: process.pid, drives: ['abc1'] });
    expect(await host.stop()).toBe(0);
    expect(existsSync(join(dir, 'host.json'))).toBe(false);
  });

  it('is not believed while the holder has not said its own name', async () => {
    const dir = await dirOf(await beginJobs('abc1'));
    left(dir, { started: '1' });
    const lock = (await takeLock(dir, 'host')) as Lock;
    const paper = start(dir).paper;
    await shows(paper, 'runs already: a process that does not say who it is');
    lock.release();
    running.clear();
  });
});

describe('trouble with the registry', () => {
  it('is told once and borne: what could not be read or claimed is tried again', async () => {
    const dir = await dirOf(await beginJobs('abc1', 'abd2'));
    let reads = 0;
    let claims = 0;
    const full = () => new RegistryError('full', 'The disk is full.');
    const wrap = (real: Registry) =>
      replacing('claim', ({ claim }) => async (...args) => {
        // The first row cannot be taken twice; that must not keep the second.
        if (args[0] === 'abc1' && ++claims <= 2) throw full();
        return claim(...args);
      })(
        replacing('openRows', ({ openRows }) => async () => {
          if (++reads <= 2) throw full();
          return openRows();
        })(real),
      );
    const host = start(dir, { wrap });
    await shows(host.paper, /"what":"adopted","job":"abc1"/);
    await host.stop();
    const lines = told(host.paper);
    expect(lines.filter(({ what }) => what === 'warning').map(({ message }) => message)).toEqual([
      'The disk is full. Trying again.',
      'job abc1 cannot be taken over: The disk is full.',
    ]);
    expect(lines.filter(({ what }) => what === 'adopted').map(({ job }) => job)).toEqual(['abd2', 'abc1']);
  });

  it('when it is opened is tried again where waiting may cure it, and told where it cannot', async () => {
    const dir = freshDir();
    writeFileSync(
      join(dir, 'registry.db'),
      'this is no database, whatever its name says, and it is long enough to be read',
    );
    const { exit, err } = await inside(['host', '--registry', dir], { cwd: dir });
    expect(exit).toBe(64);
    expect(JSON.parse(err)).toMatchObject({
      level: 'error',
      what: 'failed',
      message: expect.stringContaining('not a'),
    });
  });
});

describe('rows that live drivers hold', () => {
  it('cost a host one read and no write, however many there are', async () => {
    const ids = Array.from({ length: 200 }, (_, i) => `job${i}`);
    const registry = await beginJobs(...ids, 'zzz');
    const dir = await dirOf(registry);
    const other = selfRecord('somebody-else', 'test');
    for (const id of ids) await registry.claim(id, other, 600_000, 60_000, () => false);
    let reads = 0;
    const claimed: string[] = [];
    const wrap = (real: Registry) =>
      replacing('claim', ({ claim }) => (...args) => {
        claimed.push(args[0]);
        return claim(...args);
      })(
        replacing('openRows', ({ openRows }) => () => {
          reads++;
          return openRows();
        })(real),
      );
    const host = start(dir, { wrap });
    await shows(host.paper, /"what":"adopted","job":"zzz"/);
    const before = reads;
    await expect.poll(() => reads, { timeout: 20_000 }).toBeGreaterThan(before + 1);
    expect(claimed).toEqual(['zzz']);
    // One is let go: it is noticed, and nothing else is touched.
    await registry.release('job7', 1);
    await shows(host.paper, /"what":"adopted","job":"job7"/);
    expect(claimed).toEqual(['zzz', 'job7']);
    await host.stop();
  });
});

describe('on a terminal', () => {
  it('it talks in short lines for people', async () => {
    const dir = await dirOf(await beginJobs('abc1'));
    const host = start(dir, {}, new Paper(true));
    await shows(host.paper, 'abc1');
    await host.stop();
    const lines = host.paper.text.split('\n').map((line) => line.replace(/^[\d:]{8} {2}/, ''));
    expect(lines).toEqual([
      expect.stringMatching(/^started {2}host of /),
      'adopted  abc1  attempt 1, queued: x',
      'stopping asked to stop; agents go on, the next driver takes over',
      'released abc1  goes on; the next driver takes over',
      '',
    ]);
  });
});
