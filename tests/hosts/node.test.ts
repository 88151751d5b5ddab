// Which Node runs what. `npm run test:hosts` says which one it means; otherwise it is whatever runs this.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { stepward } from '../e2e/support.ts';

const expected = process.env.STEPWARD_EXPECT_NODE ?? process.versions.node;
const [major = 0] = process.versions.node.split('.').map(Number);

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe('the Node that is meant', () => {
  it('runs the tests and the processes that they start, by path and by name', () => {
    expect(process.versions.node).toBe(expected);
    const byPath = spawnSync(process.execPath, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    expect(byPath.stdout.trim()).toBe(expected);
    const byName = spawnSync('node', ['-p', 'process.versions.node'], { encoding: 'utf8' });
    if (process.env.STEPWARD_EXPECT_NODE) expect(byName.stdout.trim()).toBe(expected);
    expect(byName.status).toBe(0);
  });

  it('uses its own SQLite where it has one', async () => {
    expect((await loadDriver()).name).toBe(major >= 22 ? 'node:sqlite' : '@photostructure/sqlite');
  });

  it('warns of nothing: what a command says is only what it has to say', () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-node-')));
    dirs.push(cwd);
    const run = (...args: string[]) => {
      const options = { cwd, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [stepward, ...args], options);
      return { status, stdout, stderr };
    };
    const delegated = run('delegate', '--agent', 'command', '--prompt', 'x', '--', 'true');
    expect(delegated.stderr).not.toMatch(/warning|experimental|deprecat/i);
    const [, id = ''] = /registered job: (\S+)/.exec(delegated.stderr) ?? [];
    expect(run('ps')).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/Warning/) });
    expect(run('status', id)).toMatchObject({ status: 0, stderr: '' });
    expect(run('__complete', 'logs', '')).toMatchObject({ status: 0, stderr: '' });
    expect(run('host', '--status')).toMatchObject({ status: 1, stderr: '' });
    const host = run('host', '--until-idle', '1ms');
    expect(host.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
    const emitted = run('emit', 'progress', '--job', id, '--attempt', '1');
    expect(emitted.stderr).not.toMatch(/Warning/);
  });
});
