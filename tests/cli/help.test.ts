// The help of every command, as its reader sees it; the files under fixtures/cli are reviewed when they change.
import { describe, expect, it } from 'vitest';
import { freshDir, inside } from './inside.ts';

const COMMANDS = [
  'delegate',
  'ps',
  'status',
  'logs',
  'explain',
  'watch',
  'wait',
  'cancel',
  'close',
  'redispatch',
  'resume',
  'host',
  'agents',
  'init',
  'completion',
  'doctor',
];

describe('help', () => {
  it('lists every command', async () => {
    const { exit, out, err } = await inside(['--help'], { cwd: freshDir() });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const listed = [...out.split('Commands:')[1]!.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name);
    expect(listed).toEqual([...COMMANDS.slice(0, 12), 'emit', 'report', ...COMMANDS.slice(12)]);
    await expect(out).toMatchFileSnapshot('../../fixtures/cli/help.txt');
  });

  it.each(COMMANDS)('of %s has examples', async (command) => {
    const { exit, out, err } = await inside([command, '--help'], { cwd: freshDir() });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(new RegExp(`Examples:\n {2}\\$ .*stepward ${command}`));
    await expect(out).toMatchFileSnapshot(`../../fixtures/cli/help-${command}.txt`);
  });

  it('comes by `help COMMAND`, too, also for the agents’ commands', async () => {
    const cwd = freshDir();
    expect((await inside(['help', 'wait'], { cwd })).out).toBe((await inside(['wait', '--help'], { cwd })).out);
    expect(await inside(['help'], { cwd })).toEqual(await inside(['--help'], { cwd }));
  });
});
