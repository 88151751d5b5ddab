import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/cli/config/load.ts';
import { Config } from '../../src/cli/config/schema.ts';
import { STARTER } from '../../src/cli/config/starter.ts';
import { UsageError } from '../../src/cli/errors.ts';
import { everything, freshDir } from './inside.ts';

function load(text: string, extension = 'yaml', dir = freshDir()): Promise<Config> {
  const file = join(dir, `stepward.config.${extension}`);
  writeFileSync(file, text);
  return loadConfig(file);
}

const WHOLE = {
  agents: {
    worker: { kind: 'command', command: ['node', 'agent.js', '{brief}'], env: { A: 'b' }, session: 'headless:w' },
    far: { kind: 'human', ways: ['bus'] },
    me: { kind: 'human', role: 'reviewer' },
  },
  timeouts: { job: '2h', idle: '90s', permission: '1d', queue: '500ms' },
  bus: { url: 'mqtts://broker.example', username: 'a', agent: { username: 'b', password: 'c' } },
  registry: 'jobs',
};
const READ = { ...WHOLE, timeouts: { job: 7_200_000, idle: 90_000, permission: 86_400_000, queue: 500 } };

describe('a config', () => {
  it.each([
    ['json', JSON.stringify(WHOLE)],
    ['yaml', JSON.stringify(WHOLE)],
    ['yml', JSON.stringify(WHOLE)],
    ['ts', `const whole: object = ${JSON.stringify(WHOLE)};\nexport default whole;\n`],
  ])('reads .%s', async (extension, text) => {
    expect(await load(text, extension)).toEqual(READ);
  });

  it.each(['', '# nothing\n', '{}'])('may be empty: %j', async (text) => {
    expect(await load(text)).toEqual({ agents: {}, timeouts: {}, bus: {} });
  });

  it('leaves no files behind, not even a .ts one', async () => {
    const dir = freshDir();
    await load('export default {};', 'ts', dir);
    expect(everything(dir)).toEqual(['stepward.config.ts']);
  });

  it.each([
    ['agents: {worker: {kind: foo}}', 'agents.worker.kind: "foo" is not a known kind; allowed: command, human'],
    ['agents: {worker: {}}', 'agents.worker.kind: is missing; allowed: command, human'],
    [
      'agents: {w: {kind: command, transport: zellij}}',
      'agents.w.transport: "zellij" is not a known transport; allowed: headless, human, tmux',
    ],
    [
      'agents: {w: {kind: command, transport: human}}',
      'agents.w.transport: "human" does not reach agents of kind command; allowed: headless',
    ],
    ['agents: {w: {kind: command, command: node x}}', 'agents.w.command: "node x" is not a list; allowed: a list'],
    ['agents: {w: {kind: command, command: []}}', 'agents.w.command: "[]" is empty; allowed: a list that is not empty'],
    ['agents: {w: {kind: command, env: {A: 1}}}', 'agents.w.env.A: "1" is not a text; allowed: a text'],
    [
      'agents: {w: {kind: human, command: [x]}}',
      'agents.w.command: "[\\"x\\"]" is a command line, and kind human starts nothing',
    ],
    [
      'agents: {w: {kind: command, session: nowhere}}',
      'agents.w.session: "nowhere" is not a session; allowed: headless:TARGET',
    ],
    ['agents: {w: {kind: command, session: "headless:.."}}', 'agents.w.session: "headless:.." is not a session'],
    [
      'agents: {w: {kind: command, session: "human:a"}}',
      'agents.w.session: "human:a" is on a transport that this agent does not use; allowed: headless:TARGET',
    ],
    [
      'agents: {w: {kind: human, role: boss}}',
      'agents.w.role: "boss" is not a role; allowed: planner, worker, reviewer, arbiter',
    ],
    ['agents: {w: {kind: human, ways: [post]}}', 'agents.w.ways.0: "post" is not known; allowed: inbox, bus, spool'],
    ['agents: {w: {kind: human, ways: bus}}', 'agents.w.ways: "bus" is not a list; allowed: a list'],
    ['agents: {w: {kind: human, ways: []}}', 'agents.w.ways: "[]" is empty; allowed: a list that is not empty'],
    [
      'agents: {w: {kind: human, ways: [bus, spool, bus]}}',
      'agents.w.ways: "[\\"bus\\",\\"spool\\",\\"bus\\"]" names a way twice; allowed: each of inbox, bus, spool once',
    ],
    ['agents: {"../x": {kind: human}}', 'agents.../x: "../x" is not a name for an agent'],
    [
      'agents: {w: {kind: command, comand: [x]}}',
      'agents.w.comand: "comand" is not a known key (did you mean "command"?); allowed: kind, transport',
    ],
    [
      'timeout: {job: 1h}',
      'timeout: "timeout" is not a known key (did you mean "timeouts"?); allowed: agents, timeouts, bus, registry',
    ],
    [
      'timeouts: {jobs: 1h}',
      'timeouts.jobs: "jobs" is not a known key (did you mean "job"?); allowed: job, idle, permission, queue',
    ],
    ['timeouts: {job: 5 parsecs}', 'timeouts.job: "5 parsecs" is not a duration; allowed: a duration'],
    ['timeouts: {job: 60}', 'timeouts.job: "60" is not a duration'],
    ['agents: [a]', 'agents: "[\\"a\\"]" is not a mapping of keys to values'],
    ['hello', 'stepward.config.yaml: "hello" is not a mapping of keys to values'],
    ['registry: ""', 'registry: "" is empty; allowed: a text that is not empty'],
  ])('refuses %s', async (text, sentence) => {
    const error = await load(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(sentence);
  });

  it.each([
    ['yaml', 'agents: ['],
    ['yaml', 'a: 1\na: 2'],
    ['json', '{"agents": }'],
    ['ts', 'export default {'],
    ['ts', 'throw new Error("no");'],
  ])('refuses broken .%s: %s', async (extension, text) => {
    await expect(load(text, extension)).rejects.toThrow(UsageError);
  });

  it('cannot be a directory', async () => {
    await expect(loadConfig(freshDir())).rejects.toThrow(/cannot be read/);
  });
});

describe('what init writes', () => {
  it('is an empty config', () => {
    expect(Config.parse(parse(STARTER) ?? {})).toEqual({ agents: {}, timeouts: {}, bus: {} });
  });

  it('is a valid config once its settings are uncommented, and shows every key', () => {
    const config = Config.parse(parse(STARTER.replace(/^#(?=[a-z]| {2})/gm, '')));
    expect(Object.keys(config).sort()).toEqual(['agents', 'bus', 'registry', 'timeouts']);
    expect(config.timeouts).toEqual({ job: 3_600_000, idle: 600_000, permission: 1_800_000, queue: 3_600_000 });
    expect(Object.keys(config.agents)).toEqual(['worker', 'me']);
  });
});
