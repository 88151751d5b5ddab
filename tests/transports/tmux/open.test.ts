// Stepward starts agents in windows of its own, and closes those it opened for an attempt, no other.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { identify, isAlive } from '../../../src/transports/process.ts';
import { openAgent } from '../../../src/transports/tmux/open.ts';
import { viewPane } from '../../../src/transports/tmux/pane.ts';
import { PlaceError } from '../../../src/transports/transport.ts';
import { eventually } from '../eventually.ts';
import { createTmuxRig, owner, type TmuxRig } from './rig.ts';

let rig: TmuxRig;
afterEach(async () => expect(await rig.dispose()).toEqual([]));

const environmentOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean).sort();
const argvOf = (pid: number): string[] => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
const sessions = async () => (await rig.tmux.run(['list-sessions', '-F', '#{session_name}'])).trim().split('\n');
const order = (argv: string[], more: Partial<Parameters<typeof openAgent>[1]> = {}) => ({
  session: 'stepward',
  name: 'agent',
  cwd: rig.place.cwd,
  env: { PATH: process.env.PATH ?? '' },
  argv,
  ...more,
});

describe('opening', () => {
  it('gives the arguments as they are, the directory, and exactly the environment', async () => {
    rig = await createTmuxRig();
    const words = ['plain', 'two words', "it's", '$HOME `id` \\', '#{pane_id}', 'ends;', '', '-x', '漢字\nline'];
    const secret = 'quote \' and "\nand a line';
    const env = { PATH: process.env.PATH ?? '', SECRET: secret, TERM: 'dumb', EMPTY: '' };
    const script = 'process.stdin.resume()';
    const pane = await openAgent(rig.tmux, order([process.execPath, '-e', script, '--', ...words], { env }));
    await eventually(() => argvOf(pane.pid)[0] === process.execPath);
    expect(argvOf(pane.pid).slice(3)).toEqual(['--', ...words]);
    const [term, ...rest] = environmentOf(pane.pid).sort(
      (a, b) => Number(b.startsWith('TERM=')) - Number(a.startsWith('TERM=')),
    );
    // Of the pane, not of whoever starts it.
    expect(term).toMatch(/^TERM=(screen|tmux)/);
    const own = rest.filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line));
    expect(own).toEqual([`EMPTY=`, `PATH=${process.env.PATH}`, `SECRET=${secret}`].sort());
    const cwd = await rig.tmux.run(['display-message', '-p', '-t', pane.id, '#{pane_current_path}']);
    expect(cwd.trim()).toBe(rig.place.cwd);
    expect(identify(pane.pid)?.started).toBe(pane.started);
  });

  it('keeps the last words of an agent that ends at once', async () => {
    rig = await createTmuxRig();
    const pane = await openAgent(rig.tmux, order(['sh', '-c', 'echo cannot do it; exit 3'])).catch((error) =>
      String(error),
    );
    const id = typeof pane === 'string' ? /%\d+/.exec(pane)![0] : pane.id;
    const view = await eventually(async () => {
      const seen = await viewPane(rig.tmux, id);
      return !('gone' in seen) && seen.dead && seen;
    });
    // tmux 3.3 now and then loses the status of a program that ends.
    expect(view.ending).toMatch(/^(ended|exited with code 3)$/);
    // tmux writes its own last line below, which moves theirs out of sight.
    expect(await rig.tmux.run(['capture-pane', '-p', '-S', '-', '-t', id])).toContain('cannot do it');
  });

  it('refuses what is not there, and what cannot be a name, and opens nothing', async () => {
    rig = await createTmuxRig();
    const before = await rig.tmux.run(['list-panes', '-a']);
    await expect(openAgent(rig.tmux, order(['no-such-agent']))).rejects.toThrow(PlaceError);
    await expect(openAgent(rig.tmux, order(['sh'], { cwd: '/no/such/place' }))).rejects.toThrow(PlaceError);
    for (const wrong of [{ session: 'a:b' }, { name: 'x;' }, { name: '' }, { env: { 'A B': '' } }]) {
      await expect(openAgent(rig.tmux, order(['sh'], wrong))).rejects.toThrow(TypeError);
    }
    expect(await rig.tmux.run(['list-panes', '-a'])).toBe(before);
  });

  it('with base-index 1 and a session whose name only begins alike', async () => {
    rig = await createTmuxRig({
      prepare: [
        ['new-session', '-d', '-s', 'stepward-12', 'sh', '-c', 'sleep 1000'],
        ['set-option', '-g', 'base-index', '1'],
        ['set-option', '-g', 'pane-base-index', '1'],
      ],
    });
    expect((await sessions()).sort()).toEqual(['stepward', 'stepward-12']);
    expect(await rig.tmux.run(['list-windows', '-t', '=stepward-12'])).toMatch(/^\d+: sh[^\n]*\n$/);
    await rig.transport.preflight(rig.place);
    const fence = await rig.fence();
    await rig.transport.reap({ ...rig.place }, fence);
    expect((await sessions()).sort()).toEqual(['stepward', 'stepward-12']);
  });

  it('many at once: one session, a window each', async () => {
    rig = await createTmuxRig({ prepare: [['new-session', '-d', '-s', 'other', 'sh', '-c', 'sleep 1000']] });
    const panes = await Promise.all(
      Array.from({ length: 4 }, () => openAgent(rig.tmux, order(['sleep', '1000'], { session: 'many' }))),
    );
    expect(new Set(panes.map(({ id }) => id)).size).toBe(4);
    expect((await rig.tmux.run(['list-windows', '-t', '=many'])).trim().split('\n')).toHaveLength(4);
  });
});

describe('reap', () => {
  const mine = { job: 'j1', attempt: 1 };

  it('closes the pane that was opened for this attempt, twice without harm', async () => {
    rig = await createTmuxRig({ for: mine, prepare: [['new-session', '-d', '-s', 'other', 'sh', '-c', 'sleep 1000']] });
    const agent = identify(rig.pane.pid)!;
    const fence = await rig.fence();
    await rig.transport.reap(rig.place, fence);
    expect(isAlive(agent)).toBe(false);
    await rig.transport.reap(rig.place, fence);
    expect(await rig.transport.look(rig.place)).toMatchObject({ alive: false, clean: true });
    expect(await sessions()).toEqual(['other']);
  });

  it('even if the server ends with its last pane', async () => {
    rig = await createTmuxRig({ for: mine });
    await rig.transport.reap(rig.place, await rig.fence());
    expect((await rig.transport.look(rig.place)).detail).toMatch(/no tmux server answers/);
  });

  it('ends a process that ignores the hang-up', async () => {
    rig = await createTmuxRig({ times: { closeMs: 200 } });
    const stubborn =
      'process.on("SIGHUP", () => {}); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("deaf")';
    const pane = await openAgent(rig.tmux, order([process.execPath, '-e', stubborn], { for: mine }));
    await eventually(async () => (await rig.tmux.run(['capture-pane', '-p', '-t', pane.id])).includes('deaf'));
    const place = { ...rig.place, target: pane.id };
    const fence = await rig.transport.takeMark(place, owner(1), async () => true);
    await rig.transport.reap(place, fence!);
    expect(isAlive({ ...pane, host: identify(process.pid)!.host })).toBe(false);
  });

  it('leaves a pane of another attempt, of nobody, and one whose mark is another', async () => {
    rig = await createTmuxRig({ for: { job: 'j1', attempt: 2 } });
    await rig.transport.reap(rig.place, await rig.fence());
    expect((await rig.transport.look(rig.place)).alive).toBe(true);
    const old = await rig.fence();
    await rig.fence();
    await rig.transport.reap({ ...rig.place, attempt: 2 }, old);
    expect((await rig.transport.look(rig.place)).alive).toBe(true);
  });
});
