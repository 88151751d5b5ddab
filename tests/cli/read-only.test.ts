// Commands that only look, before there is anything to see: they write nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { everything, freshDir, inside } from './inside.ts';

describe('a project without jobs', () => {
  it.each([
    [[], 'no jobs yet'],
    [['ps'], 'no open jobs'],
    [['ps', '--all'], 'no jobs yet'],
    [['resume'], 'nothing to resume'],
  ])('%j says so and writes nothing', async (argv, sentence) => {
    const cwd = freshDir();
    const { exit, out, err } = await inside(argv, { cwd });
    expect(exit).toBe(0);
    expect(out + err).toContain(sentence);
    expect(everything(cwd)).toEqual([]);
  });

  it('lists nothing as nothing in JSON', async () => {
    const cwd = freshDir();
    expect(await inside(['ps', '--json'], { cwd })).toEqual({ exit: 0, out: '', err: '' });
  });
});

describe('a registry that was named', () => {
  it.each([[[]], [['ps']], [['ps', '--json']]])('%j says where there is none yet', async (argv) => {
    const cwd = freshDir();
    const { exit, err } = await inside([...argv, '--registry', 'r'], { cwd });
    expect({ exit, err }).toEqual({ exit: 0, err: `no registry in ${join(cwd, 'r')} yet\n` });
    expect(everything(cwd)).toEqual([]);
  });

  it('is one without jobs where its file is empty', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'registry.db'), '');
    const { exit, err } = await inside(['ps', '--all', '--registry', '.'], { cwd });
    expect({ exit, err }).toEqual({ exit: 0, err: 'no jobs yet: stepward delegate --help\n' });
    expect(everything(cwd)).toEqual(['registry.db']);
  });
});

describe('delegate --dry-run', () => {
  it('says what would happen, flags before environment before config, and writes nothing', async () => {
    const cwd = freshDir();
    const text = `
agents: {worker: {kind: command, command: [node, "a b.js", "{brief}"], env: {SECRET: hush}}}
timeouts: {job: 1h, idle: 1h, permission: 1h}
`;
    writeFileSync(join(cwd, 'stepward.config.yaml'), text);
    const argv = ['delegate', '--agent', 'worker', '-', '--timeout', '2h', '--dry-run'];
    const env = { STEPWARD_TIMEOUT: '3h', STEPWARD_IDLE_TIMEOUT: '20m' };
    const said = await inside(argv, { cwd, env, input: '# Fix it\n\nplease' });
    expect(said.out).toBe(
      `agent     worker (kind command)
session   headless, one of its own
start     node 'a b.js' '{brief}'
cwd       ${cwd}
task      Fix it
limits    job 2h, idle 20m, permission 1h, queue 2h
registry  ${join(cwd, '.stepward')} (nearby)
`,
    );
    expect(said).toMatchObject({ exit: 0, err: 'dry run: nothing was written, nothing was started\n' });
    const json = await inside([...argv, '--json'], { cwd, env, input: 'x' });
    const told = JSON.parse(json.out) as Record<string, unknown>;
    expect(told).toMatchObject({
      dryRun: true,
      argv: ['node', 'a b.js', '{brief}'],
      limitsMs: { job: 7_200_000, idle: 1_200_000, permission: 3_600_000, queue: 7_200_000 },
      registry: { source: 'nearby' },
    });
    expect(json.out).not.toContain('hush');
    expect(everything(cwd)).toEqual(['stepward.config.yaml']);
  });

  it('takes agent and session from the environment', async () => {
    const env = { STEPWARD_AGENT: 'human', STEPWARD_SESSION: 'human:desk', STEPWARD_TIMEOUT: '' };
    const { out } = await inside(['delegate', '--prompt', 'x', '--dry-run'], { cwd: freshDir(), env });
    expect(out).toContain('session   human:desk\n');
    expect(out).toContain('job 1h,');
  });
});

describe('init', () => {
  it('writes one file, and never over another', async () => {
    const cwd = freshDir();
    const first = await inside(['init'], { cwd });
    expect(first).toMatchObject({ exit: 0, out: `${join(cwd, 'stepward.config.yaml')}\n` });
    expect(everything(cwd)).toEqual(['stepward.config.yaml']);
    writeFileSync(join(cwd, 'stepward.config.yaml'), 'timeouts: {}\n');
    const second = await inside(['init'], { cwd });
    expect(second.exit).toBe(64);
    expect(second.err).toContain('is there already and is not overwritten');
    expect(readFileSync(join(cwd, 'stepward.config.yaml'), 'utf8')).toBe('timeouts: {}\n');
  });

  it('refuses beside a config of another kind', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'stepward.config.json'), '{}');
    expect((await inside(['init', '--json'], { cwd })).exit).toBe(64);
    expect(everything(cwd)).toEqual(['stepward.config.json']);
  });
});

describe('doctor', () => {
  it('is content with a fresh directory, and writes nothing', async () => {
    const cwd = freshDir();
    const { exit, out } = await inside(['doctor', '--json'], { cwd });
    const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: { name: string; ok: boolean; data?: object }[] };
    expect({ exit, ok }).toEqual({ exit: 0, ok: true });
    expect(checks.map(({ name }) => name)).toEqual([
      'node',
      'sqlite',
      'git',
      'config',
      'registry',
      'bus',
      'agent command',
      'agent human',
      'look',
      'jobs',
    ]);
    expect(checks.find(({ name }) => name === 'look')?.data).toEqual({ windowMs: 250 });
    expect(everything(cwd)).toEqual([]);
  });

  it('finds where an agent’s program is, and that another one is not', async () => {
    const cwd = freshDir();
    const agents = { here: { kind: 'command', command: ['node', 'x'] }, gone: { kind: 'command', command: ['./no'] } };
    writeFileSync(join(cwd, 'stepward.config.json'), JSON.stringify({ agents }));
    const { exit, out } = await inside(['doctor', '--json'], { cwd });
    const { checks } = JSON.parse(out) as {
      checks: { name: string; ok: boolean; seen: string; data?: { path: string } }[];
    };
    const of = (name: string) => checks.find((check) => check.name === `agent ${name}`)!;
    const where = execFileSync('sh', ['-c', 'command -v node'], { encoding: 'utf8' }).trim();
    expect(of('here')).toMatchObject({ ok: true, data: { path: where } });
    expect(of('gone')).toMatchObject({ ok: false });
    expect(of('gone').seen).toContain('./no');
    expect(exit).toBe(1);
  });

  it('reports a broken config as a finding and goes on', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'stepward.config.yaml'), 'x: 1');
    const { exit, out } = await inside(['doctor'], { cwd });
    expect(exit).toBe(1);
    expect(out).toMatch(/problem {2}config +stepward.config.yaml: x: "x" is not a known key/);
    expect(out).toMatch(/ok +look/);
  });
});
