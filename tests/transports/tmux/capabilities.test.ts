// Other versions of tmux, and other troubles with it, simulated by a program of that name in front of the real one.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probePaste, requireNewEnough, requireVersion } from '../../../src/transports/tmux/capabilities.ts';
import { createTmux, type Tmux, TmuxError } from '../../../src/transports/tmux/client.ts';
import { TIMES } from '../../../src/transports/tmux/parts.ts';
import { PlaceError, type Transport } from '../../../src/transports/transport.ts';
import { createTmuxRig, type TmuxRig } from './rig.ts';

let rig: TmuxRig;

const shimEnv = () => ({ ...rig.options.env, PATH: `${join(rig.dir, 'bin')}:${process.env.PATH}` });
/** A tmux that is this script; `real` in it is the real one. */
function shim(script: string): Transport {
  mkdirSync(join(rig.dir, 'bin'), { recursive: true });
  const path = join(rig.dir, 'bin', 'tmux');
  const real = `real() { PATH='${process.env.PATH}' command tmux "$@"; }`;
  writeFileSync(path, `#!/bin/sh\n${real}\n${script}\n`);
  chmodSync(path, 0o755);
  return rig.transportWith({ env: shimEnv() });
}
const client = (): Tmux => createTmux({ server: { path: rig.socket }, env: shimEnv() });
const refusalOf = async (transport: Transport): Promise<string> => {
  const error = await transport.preflight(rig.place).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlaceError);
  return (error as Error).message;
};

describe('a version', () => {
  for (const version of ['3.2', '3.2a', '3.3a', 'next-3.4', '3.7', '4.0', 'master', 'openbsd-7.5']) {
    it(`${version} will do`, () => expect(requireNewEnough(version)).toBeUndefined());
  }
  for (const version of ['1.8', '2.9a', '3.0', '3.1c', 'next-3.1']) {
    it(`${version} is too old: one sentence that says what to do`, () => {
      expect(() => requireNewEnough(version)).toThrow(
        `tmux ${version} is too old to be typed into safely; install tmux 3.2 or newer, or use another transport`,
      );
    });
  }
  it('what is no version is shown', () => expect(() => requireNewEnough('')).toThrow(/says its version is ""/));
});

describe('on a server', () => {
  beforeEach(async () => {
    rig = await createTmuxRig();
  });
  afterEach(async () => expect(await rig.dispose()).toEqual([]));

  describe('the version', () => {
    it('of the program is asked for before anything is typed', async () => {
      const old = shim('case "$*" in *-V) echo "tmux 3.1c";; *) real "$@";; esac');
      expect(await refusalOf(old)).toMatch(/^tmux 3\.1c is too old/);
      expect(rig.input()).toHaveLength(0);
    });

    it('of the running server counts too: it is as old as its start', async () => {
      const old = shim(`case "$*" in *'#{version}'*) real "$@" | sed '1s/3\\.[0-9a-z]*/2.6/';; *) real "$@";; esac`);
      expect(await refusalOf(old)).toMatch(/^tmux 2\.6 is too old.*restart its server$/);
    });

    it('a tmux that is not there: said so', async () => {
      const none = rig.transportWith({ env: { ...rig.options.env, PATH: join(rig.dir, 'empty') } });
      expect(await refusalOf(none)).toBe('tmux was not found; install tmux 3.2 or newer, or use another transport');
      expect(await none.look(rig.place)).toMatchObject({ alive: true, hold: 'busy', turn: 'hidden' });
    });

    it('is what the program says', async () => expect(await requireVersion(rig.tmux)).toMatch(/^(next-)?\d+\.\d+/));
  });

  describe('the paste strategy', () => {
    it('is proven by a round trip that leaves nothing behind', async () => {
      const before = await rig.tmux.run(['list-sessions']);
      expect(await probePaste(rig.tmux)).toEqual(['-p', '-r']);
      expect(await rig.tmux.run(['list-sessions'])).toBe(before);
      expect(await rig.buffers()).toBe('');
    });

    it('is another one where the first changes what it pastes', async () => {
      // As a version may that encodes what it pastes, with a flag that leaves it out.
      shim(`
case "$*" in
  *paste-buffer*" -S "*)
    seen=; for arg; do shift; [ "$seen$arg" = y-S ] || set -- "$@" "$arg"; [ "$arg" = paste-buffer ] && seen=y; done
    real "$@";;
  *paste-buffer*)
    last=; for arg; do [ "$last" = -b ] && buffer=$arg; last=$arg; done
    real -S '${rig.socket}' save-buffer -b "$buffer" - | LC_ALL=C tr -c ' -~\\n' '?' >'${rig.dir}/encoded'
    real -S '${rig.socket}' load-buffer -b "$buffer" '${rig.dir}/encoded'; real "$@";;
  *) real "$@";;
esac`);
      expect(await probePaste(client())).toEqual(['-p', '-r', '-S']);
      expect(await rig.buffers()).toBe('');
    });

    it('is none where nothing arrives as it was: refused, with what arrived', async () => {
      const garbles = shim(`case "$*" in *load-buffer*) tr 'o' 'x' | real "$@";; *) real "$@";; esac`);
      const said = await refusalOf(garbles);
      expect(said).toMatch(/^this tmux changes what is pasted \(-p -r: "\^\[\[200~rxund M-CM-\)/);
      expect(said).toMatch(/install tmux 3\.2 or newer, or use another transport$/);
      expect(await rig.buffers()).toBe('');
      expect(rig.input()).toHaveLength(0);
    });
  });

  describe('a tmux in trouble', () => {
    it('that hangs: given up, said, and nothing claimed', async () => {
      shim('exec sleep 100');
      const hangs = rig.transportWith({ env: shimEnv(), timeoutMs: 200 });
      expect(await hangs.look(rig.place)).toMatchObject({
        alive: true,
        hold: 'busy',
        turn: 'hidden',
        detail: 'tmux display-message: no answer within 200 ms',
      });
    });

    it('is told by kind', async () => {
      const trouble = (tmux: Tmux, ...args: string[]) =>
        tmux.run(args).then(
          () => 'none',
          (error: unknown) => (error instanceof TmuxError ? error.trouble : error),
        );
      expect(await trouble(rig.tmux, 'kill-pane', '-t', '%999')).toBe('no-target');
      expect(await trouble(rig.tmux, 'no-such-command')).toBe('failed');
      expect(await trouble(createTmux({ server: { path: join(rig.dir, 'none') } }), 'list-panes')).toBe('no-server');
      expect(await trouble(createTmux({ program: join(rig.dir, 'none') }), '-V')).toBe('missing');
      expect(() => createTmux({ server: { name: 'a', path: 'b' } })).toThrow(TypeError);
      // An answer beside an error message is no answer.
      shim('echo fine; echo "something is wrong" >&2');
      expect(await trouble(client(), 'list-panes')).toBe('failed');
    });

    it('reads letters beyond ASCII whatever the locale', async () => {
      await rig.order('draft 漢字é');
      expect(await rig.screen()).toContain('> 漢字é');
    });
  });
});

it('keeps the times of the design', () => {
  expect(TIMES).toMatchObject({ twiceMs: 150, freshMs: 250, secondLookMs: 5_000, evidenceMs: 10_000 });
});
