// An agent whose sandbox has no network and only its working directory writable (Codex's default): the registry cannot be
// reached, so its events come by the spool. Same outcome as without a sandbox.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { agentFile, project, registered } from '../e2e/support.ts';

const outside: string[] = [];
afterEach(() => {
  for (const dir of outside.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** bubblewrap: everything read-only, no network, its own /tmp; only the working directory can be written. */
const sandbox = (cwd: string): string[] => [
  'bwrap',
  ...[
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--bind',
    cwd,
    cwd,
    '--unshare-net',
    '--die-with-parent',
  ],
  '--',
];

describe('an agent in a sandbox', () => {
  it.each(['completes', 'fails'])('%s: its events come by the spool', async (behaviour) => {
    const p = project();
    const registry = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-registry-')));
    outside.push(registry);
    const work = join(p.dir, 'work');
    mkdirSync(work);
    const agent = [...sandbox(work), process.execPath, agentFile, behaviour, join(work, 'starts')];
    const { code, stderr } = await p.run([
      'delegate',
      '--registry',
      registry,
      '--agent',
      'command',
      '--prompt',
      'x',
      '--cwd',
      work,
      '--',
      ...agent,
    ]);
    expect(code).toBe(behaviour === 'completes' ? 0 : 1);
    const id = registered(stderr);
    const { stdout } = await p.run(['logs', id, '--json', '--registry', registry]);
    const log = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const taken = log.filter(({ from, verdict }) => from === 'agent' && verdict === 'take').map(({ what }) => what);
    expect(taken).toEqual(behaviour === 'completes' ? ['started', 'progress', 'completed'] : ['failed']);
    expect(readFileSync(join(registry, 'runs', id, '1', 'out.log'), 'utf8')).toMatch(/spooled/);
  });
});
