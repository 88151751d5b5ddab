// A lock file that may not be written excludes nobody (SQLite opens it for reading only and grants every lock), so it is refused. As another
// user: to root every file is writable.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { project, stepward } from '../e2e/support.ts';

const NOBODY = 65_534;

it('a lock that may not be written is told, and no host runs without it', () => {
  const p = project();
  const registry = join(p.dir, 'registry');
  mkdirSync(registry);
  writeFileSync(join(registry, 'host.lock'), '');
  chmodSync(p.dir, 0o755);
  for (const path of [registry, join(registry, 'host.lock')]) chownSync(path, NOBODY, NOBODY);
  chmodSync(join(registry, 'host.lock'), 0o444);
  const { status, stderr } = spawnSync(process.execPath, [stepward, 'host', '--registry', registry], {
    cwd: p.dir,
    uid: NOBODY,
    gid: NOBODY,
    env: { PATH: process.env.PATH, HOME: p.dir },
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr).toMatch(/host\.lock.*(EACCES|permission)/i);
  expect(status).not.toBe(0);
});
