// A full disk under the registry: a sentence and nothing half-written; once there is room again, nothing is lost.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { project } from '../e2e/support.ts';

const mounts: string[] = [];
afterEach(() => {
  for (const dir of mounts.splice(0)) execFileSync('umount', ['-l', dir]);
});

function smallDisk(dir: string): string {
  mkdirSync(dir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', dir]);
  mounts.push(dir);
  return dir;
}

/** Takes all the room there is. */
function fill(dir: string): string {
  const file = join(dir, 'filler');
  const { bavail, bsize } = statfsSync(dir);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch {
    // The last page may not fit; what was written stays.
  }
  return file;
}

describe('a full disk', () => {
  it('before the job exists: a sentence, no job, and it works once there is room', async () => {
    const p = project();
    const registry = smallDisk(join(p.dir, 'disk'));
    const filler = fill(registry);
    const refused = await p.run([...p.delegate('completes', '--registry', registry)]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/no room|full|space/i);
    expect(p.starts()).toEqual([]);
    rmSync(filler);
    expect((await p.run(p.delegate('completes', '--registry', registry))).code).toBe(0);
    expect(p.starts()).toHaveLength(1);
  });

  it('while the agent works: its events wait in the spool, the driver warns and goes on when there is room', async () => {
    const p = project();
    const registry = smallDisk(join(p.dir, 'disk'));
    const driver = p.start(p.delegate('waitsForFile', '--registry', registry, '--timeout', '2m'));
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/working|notBegun/);
    const filler = fill(registry);
    writeFileSync(join(p.dir, 'go'), '');
    await driver.says(/warning: .*(no room|full|space)/i);
    expect(driver.child.exitCode).toBe(null);
    rmSync(filler);
    const { code, stderr } = await driver.ended;
    expect(code, stderr).toBe(0);
    expect(await p.status(id, '--registry', registry)).toMatchObject({ status: 'completed', exit: 0 });
    expect(p.starts()).toHaveLength(1);
    expect(existsSync(join(p.dir, 'result.txt'))).toBe(true);
  });

  it('under a host that starts: told as a line and tried again, not given up at the lock', async () => {
    const p = project();
    const registry = smallDisk(join(p.dir, 'disk'));
    const filler = fill(registry);
    const host = p.start(['host', '--registry', registry]);
    await host.says(/"level":"warn".*(no room|full|space)/i);
    rmSync(filler);
    await host.says(/"what":"started"/);
    host.child.kill('SIGTERM');
    expect((await host.ended).code).toBe(0);
  });
});
