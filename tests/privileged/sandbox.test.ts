// An agent in a sandbox that leaves it only its working directory: without network (Codex's default) its events come by the spool,
// with one by the bus. Same outcome as without a sandbox.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { agentFile, project, registered } from '../e2e/support.ts';

const outside: string[] = [];
afterEach(() => {
  for (const dir of outside.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** bubblewrap: everything read-only, and where there is a network the registry not even visible; only the working directory can be
 *  written. */
const sandbox = (cwd: string, registry: string, network: boolean): string[] => [
  'bwrap',
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...(network ? ['--tmpfs', registry] : ['--unshare-net']),
  ...['--bind', cwd, cwd],
  '--die-with-parent',
  '--',
];

describe('an agent in a sandbox', () => {
  it.each([
    { behaviour: 'completes', network: false, way: 'the spool', says: /spooled/ },
    { behaviour: 'fails', network: false, way: 'the spool', says: /spooled/ },
    { behaviour: 'completes', network: true, way: 'the bus', says: /emit completed: 0 committed as version/ },
    { behaviour: 'fails', network: true, way: 'the bus', says: /emit failed: 0 committed as version/ },
  ])('$behaviour: its events come by $way', async ({ behaviour, network, says }) => {
    const p = project();
    const registry = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-registry-')));
    outside.push(registry);
    const work = join(p.dir, 'work');
    mkdirSync(work);
    const agent = [...sandbox(work, registry, network), process.execPath, agentFile, behaviour, join(work, 'starts')];
    const words = ['delegate', '--registry', registry, '--agent', 'command', '--prompt', 'x', '--cwd', work, '--'];
    const { code, stderr } = await p.run([...words, ...agent]);
    expect(code, stderr).toBe(behaviour === 'completes' ? 0 : 1);
    const id = registered(stderr);
    const { stdout } = await p.run(['logs', id, '--json', '--registry', registry]);
    const log = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const taken = log.filter(({ from, verdict }) => from === 'agent' && verdict === 'take').map(({ what }) => what);
    expect(taken).toEqual(behaviour === 'completes' ? ['started', 'progress', 'completed'] : ['failed']);
    expect(readFileSync(join(registry, 'runs', id, '1', 'out.log'), 'utf8')).toMatch(says);
  });
});
