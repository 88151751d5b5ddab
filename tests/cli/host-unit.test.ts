// The units that `host --print-unit` prints, read back by systemd itself and as XML.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { UNITS, type UnitPlace, unitName, unitText } from '../../src/cli/host/unit.ts';
import { freshDir, inside } from './inside.ts';
import { parsePlist } from './plist.ts';

/** What a path may hold, and each of the two formats gives a meaning to. */
const HARD = `a b%h "q" 's' $HOME $\{X} \\t & <x> -- é`;
const place: UnitPlace = {
  node: process.execPath,
  entry: `/opt/${HARD}/stepward.cjs`,
  project: `/home/me/${HARD}`,
  registry: `/home/me/${HARD}/.git/stepward`,
};

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe('a systemd unit', () => {
  it('escapes what systemd would read as something else', () => {
    const unit = unitText('systemd', place);
    const value = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1];
    const word = `a b%%h \\"q\\" 's' $$HOME $$\{X} \\\\t & <x> -- é`;
    expect(value('ExecStart')).toBe(
      `"${process.execPath}" "/opt/${word}/stepward.cjs" "host" "--registry" "/home/me/${word}/.git/stepward" "--json"`,
    );
    expect(value('WorkingDirectory')).toBe(`/home/me/${HARD.replaceAll('%', '%%')}`);
    expect(value('KillMode')).toBe('process');
    expect(value('Restart')).toBe('on-failure');
    expect(unit).toContain('#   systemctl --user daemon-reload && systemctl --user enable --now stepward-');
  });

  // Where there is no systemd there is nothing that could read it.
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  if (hasSystemd)
    it('is accepted by systemd', () => {
      const dir = mkdtempSync(join(tmpdir(), 'stepward-unit-'));
      dirs.push(dir);
      const file = join(dir, `${unitName(place)}.service`);
      const verify = (text: string) => {
        writeFileSync(file, text);
        const options = { encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: dir, HOME: dir } } as const;
        return spawnSync('systemd-analyze', ['verify', '--user', '--man=no', '--recursive-errors=no', file], options);
      };
      // Its directory and its script are not there, which systemd only finds out when it starts them.
      expect(verify(unitText('systemd', place))).toMatchObject({ status: 0, stderr: '' });
      // The same check does find a mistake.
      const broken = unitText('systemd', { ...place, node: '/no/such/node' });
      expect(verify(broken).stderr).toContain('/no/such/node');
      expect(verify(broken.replace('KillMode=process', 'KillMode=gently')).stderr).toContain('kill mode');
    });
});

describe('a launchd unit', () => {
  it('is well-formed XML that says the very words', () => {
    expect(parsePlist(unitText('launchd', place))).toEqual({
      Label: unitName(place),
      ProgramArguments: [process.execPath, place.entry, 'host', '--registry', place.registry, '--json'],
      WorkingDirectory: place.project,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 30,
      ExitTimeOut: 15,
      AbandonProcessGroup: true,
      StandardErrorPath: join(place.registry, 'host.log'),
    });
  });
});

describe.each(UNITS)('--print-unit %s', (kind) => {
  it('names absolute paths of this project and writes nothing', async () => {
    const cwd = freshDir();
    execFileSync('git', ['init', '-q'], { cwd });
    const { exit, out, err } = await inside(['host', '--print-unit', kind], { cwd });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    for (const path of [process.execPath, join(cwd, '.git', 'stepward'), cwd]) expect(out).toContain(path);
    expect(existsSync(join(cwd, '.git', 'stepward'))).toBe(false);
  });

  it('refuses a path that no unit can name', () => {
    const bad = { ...place, project: '/home/me/a\nExecStart=evil' };
    expect(() => unitText(kind, bad)).toThrow(/--print-unit: "\/home\/me\/a\\nExecStart=evil" cannot be named/);
  });
});
