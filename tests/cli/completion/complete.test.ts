// What `stepward __complete` offers, and that it disturbs nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { specOf } from '../../../src/jobs/spec.ts';
import { everything, freshDir, inside } from '../inside.ts';
import { beginJobs } from '../registry.ts';

interface Offered {
  values: string[];
  besides: string;
}

async function offered(words: string[], cwd = freshDir(), env = {}): Promise<Offered> {
  const { exit, out, err } = await inside(['__complete', ...words], { cwd, env });
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  const lines = out.split('\n').filter(Boolean);
  return { values: lines.slice(0, -1).map((line) => line.split('\t')[0] ?? ''), besides: lines.at(-1) ?? '' };
}

const helpOf = async (...words: string[]) => (await inside([...words, '--help'], { cwd: freshDir() })).out;
const commandsOf = (help: string) =>
  [...help.split('Commands:')[1]!.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, n]) => n!);

describe('commands and options', () => {
  it('are those of the help, each in its order', async () => {
    const names = commandsOf(await helpOf());
    expect(names.length).toBeGreaterThan(12);
    expect(await offered([''])).toEqual({ values: names, besides: ':none' });
    expect(await offered(['help', ''])).toEqual({ values: names, besides: ':none' });
    expect((await offered(['--json', 're'])).values).toEqual(['redispatch', 'resume', 'report']);
    for (const name of names.filter((one) => one !== 'emit' && one !== 'report')) {
      const long = [...(await helpOf(name)).matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option);
      expect([name, (await offered([name, '-'])).values.toSorted()]).toEqual([name, long.toSorted()]);
    }
  });

  it('are not offered twice, and not in the place of a value', async () => {
    expect((await offered(['host', '--status', '--st'])).values).toEqual(['--stop']);
    expect((await offered(['logs', '-f', '--fo'])).values).toEqual([]);
    expect((await offered(['delegate', '--prompt', '--det'])).values).toEqual([]);
    expect((await offered(['delegate', '--prompt', '--agent', '--det'])).values).toEqual(['--detach']);
    expect((await offered(['delegate', '--agent', 'x', '--prompt', 'host', '--det'])).values).toEqual(['--detach']);
    expect(await offered(['nonsense', ''])).toEqual({ values: [], besides: ':none' });
  });
});

describe('values', () => {
  it('are known by their placeholder', async () => {
    expect(await offered(['delegate', '--cwd', ''])).toEqual({ values: [], besides: ':dirs' });
    expect(await offered(['delegate', '--registry=x'])).toEqual({ values: [], besides: ':dirs' });
    expect(await offered(['--registry', ''])).toEqual({ values: [], besides: ':dirs' });
    expect(await offered(['delegate', '--brief', ''])).toEqual({ values: [], besides: ':files' });
    expect(await offered(['delegate', '--timeout', ''])).toEqual({ values: [], besides: ':none' });
    expect(await offered(['delegate', '--agent', 'x', '--', 'logs', ''])).toEqual({ values: [], besides: ':files' });
    expect(await offered(['completion', ''])).toEqual({ values: ['bash', 'zsh', 'fish'], besides: ':none' });
    expect((await offered(['host', '--print-unit='])).values).toEqual(['--print-unit=systemd', '--print-unit=launchd']);
  });

  it('of --agent are the agents of the config, then the kinds', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'stepward.config.json'), JSON.stringify({ agents: { me: { kind: 'human' } } }));
    expect((await offered(['delegate', '--agent', ''], cwd)).values.slice(0, 1)).toEqual(['me']);
    expect((await offered(['delegate', '--agent=h'], cwd)).values).toEqual(['--agent=human']);
  });

  it('of a job are the newest first, from the registry that the line or the environment names', async () => {
    const registry = await beginJobs('abc1', 'abd2', 'xyz3');
    const dir = specOf((await registry.load('abc1'))!).registryDir;
    expect((await offered(['--registry', dir, 'logs', ''])).values).toEqual(['@last', 'xyz3', 'abd2', 'abc1']);
    expect((await offered(['logs', `--registry=${dir}`, 'ab'])).values).toEqual(['abd2', 'abc1']);
    const env = { STEPWARD_REGISTRY: dir };
    expect((await offered(['wait', 'abd2', ''], freshDir(), env)).values).toEqual(['@last', 'xyz3', 'abc1']);
    // One job only.
    expect((await offered(['logs', 'abd2', 'x'], freshDir(), env)).values).toEqual([]);
  });
});

describe('it is silent', () => {
  it.each([
    ['a broken config', ['delegate', '--agent', ''], { 'stepward.config.yaml': 'agents: [' }],
    ['no registry', ['logs', ''], {}],
    ['a file that is no registry', ['logs', ''], { '.stepward': 'x' }],
    ['no words at all', [], {}],
  ])('over %s, and makes nothing', async (_, words, files) => {
    const cwd = freshDir();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    const before = everything(cwd);
    const { exit, err } = await inside(['__complete', ...words], { cwd });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(everything(cwd)).toEqual(before);
  });
});
