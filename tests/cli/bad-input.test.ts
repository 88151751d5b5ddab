// Bad input: one sentence that names the option, the value and what is allowed; exit 64; nothing written.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { loadDriver } from '../../src/registry/sqlite/driver.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { everything, freshDir, type InsideOptions, inside } from './inside.ts';

const human = ['delegate', '--agent', 'human'];
const task = [...human, '--prompt', 'x'];

type Case = [name: string, argv: string[], sentence: string, options?: Partial<InsideOptions>];

const CASES: Case[] = [
  [
    'an unknown command',
    ['delegat', '--agent', 'x'],
    'command: "delegat" is not known (did you mean "delegate"?); allowed: delegate, ps,',
  ],
  ['help of an unknown command', ['help', 'nope'], 'command: "nope" is not known; allowed: delegate'],
  ['no agent', ['delegate', '--prompt', 'x'], '--agent: is missing; allowed: command, human'],
  [
    'an unknown agent',
    ['delegate', '--agent', 'comand', '--prompt', 'x'],
    '--agent: "comand" is not a known agent (did you mean "command"?); allowed: command, human',
  ],
  [
    'an unknown agent of the environment',
    ['delegate', '--prompt', 'x'],
    'STEPWARD_AGENT: "nobody" is not a known agent; allowed: command, human',
    { env: { STEPWARD_AGENT: 'nobody' } },
  ],
  [
    'an agent without a command line',
    ['delegate', '--agent', 'command', '--prompt', 'x'],
    '--agent: "command" needs a command line to start; allowed: a command line behind --',
  ],
  [
    'a command line for a human',
    [...task, '--', 'node', 'x'],
    '--: "node x" is a command line, and kind human starts nothing',
  ],
  ['no task', human, '--prompt: is missing; allowed: one of --prompt TEXT, --brief FILE, or -'],
  ['two tasks', [...task, '--brief', 'b'], '--prompt, --brief: exclude each other'],
  ['an empty prompt', [...human, '--prompt', ''], '--prompt: is empty; allowed: a text that says what to do'],
  ['a prompt of spaces', [...human, '--prompt', ' \n '], '--prompt: is empty'],
  ['an empty standard input', [...human, '-'], '-: is empty'],
  [
    'a task that is no text',
    [...human, '-'],
    '-: is not text; allowed: UTF-8 text',
    { input: Buffer.from([0xff, 0xfe]) },
  ],
  ['a task with NUL', [...human, '-'], '-: is not text', { input: 'a\0b' }],
  [
    'a task that is too long',
    [...human, '-'],
    '-: standard input is too long; allowed: text of at most 1 MiB',
    { input: 'x'.repeat(1_048_577) },
  ],
  [
    'a brief that is not there',
    [...human, '--brief', 'no.md'],
    '--brief: "no.md" does not exist; allowed: a readable text file',
  ],
  ['a brief that is a directory', [...human, '--brief', '.'], '--brief: "." is not a file'],
  ['a stray word', [...human, 'foo'], 'argument: "foo" is not expected; allowed: -'],
  [
    'a duration',
    [...task, '--timeout', '5 parsecs'],
    '--timeout: "5 parsecs" is not a duration; allowed: a duration above 0',
  ],
  ['an idle duration', [...task, '--idle-timeout', '0s'], '--idle-timeout: "0s" is not a duration'],
  ['a permission duration', [...task, '--permission-timeout', '-1s'], '--permission-timeout: "-1s" is not a duration'],
  ['a queue duration', [...task, '--queue-timeout', '3'], '--queue-timeout: "3" is not a duration'],
  [
    'a duration of the environment',
    task,
    'STEPWARD_IDLE_TIMEOUT: "soon" is not a duration',
    { env: { STEPWARD_IDLE_TIMEOUT: 'soon' } },
  ],
  [
    'a working directory that is not there',
    [...task, '--cwd', 'nowhere'],
    '--cwd: "nowhere" does not exist; allowed: an existing directory',
  ],
  ['an empty working directory', [...task, '--cwd', ''], '--cwd: "" is empty; allowed: an existing directory'],
  [
    'an empty command word',
    ['delegate', '--agent', 'command', '--prompt', 'x', '--', ''],
    '--: "" is not a program; allowed: a command line that begins with a program',
  ],
  [
    'a registry below what is no directory',
    [...task, '--registry', '/dev/null/x'],
    '--registry: "/dev/null/x" lies below something that is not a directory; allowed: a directory',
  ],
  ['no session', [...task, '--session', ''], '--session: "" is not a session; allowed: headless:TARGET, human:TARGET'],
  ['a session without a target', [...task, '--session', 'human:'], '--session: "human:" is not a session'],
  ['a session of the environment', task, 'STEPWARD_SESSION: "x" is not a session', { env: { STEPWARD_SESSION: 'x' } }],
  [
    'a session on another transport',
    [...task, '--session', 'headless:a'],
    '--session: "headless:a" is on a transport that this agent does not use; allowed: human:TARGET',
  ],
  [
    'an unknown option',
    [...task, '--sesion', 'a'],
    '--sesion: is not an option (did you mean "--session"?); allowed: --agent',
  ],
  ['an unknown option of the program', ['--nope'], '--nope: is not an option; allowed: --registry, --json'],
  ['an option without its value', [...human, '--prompt'], '--prompt: has no value; allowed: --prompt <text>'],
  ['a value for a switch', ['ps', '--json=3'], '--json: "3" is not expected; allowed: --json'],
  ['too many arguments', ['ps', 'extra'], 'arguments: are too many; allowed: stepward ps'],
  [
    'a command line where none belongs',
    ['ps', '--', 'x'],
    '--: "x" is not for this command; allowed: stepward delegate',
  ],
  ['no job', ['wait'], 'JOB: is missing; allowed: stepward wait'],
  [
    'a job where there are none',
    ['status', 'k7f3'],
    'JOB: "k7f3" is not known: this project has no jobs yet; allowed: the id of a job',
  ],
  ['@last where there are none', ['explain'], 'JOB: "@last" is not known'],
  ['no request', ['close', 'k7f3'], '--request: is missing; allowed: deadline_timeout, cancelled'],
  [
    'an unknown request',
    ['close', 'k7f3', '--request', 'canceled'],
    '--request: "canceled" is not a request (did you mean "cancelled"?); allowed: deadline_timeout, cancelled',
  ],
  [
    'an attempt that is no number',
    ['redispatch', 'k7f3', '--attempt', 'two'],
    '--attempt: "two" is not the number of an attempt; allowed: a whole number from 1',
  ],
  ['attempt 0', ['redispatch', 'k7f3', '--attempt', '0'], '--attempt: "0" is not the number of an attempt'],
  ['an empty registry', ['ps', '--registry', ''], '--registry: "" is empty; allowed: a directory'],
];

describe('bad input', () => {
  it.each(CASES)('%s', async (_name, argv, sentence, options) => {
    const cwd = freshDir();
    const said = await inside(argv, { cwd, ...options });
    expect(said.err).toContain(`error: ${sentence}`);
    expect(said.err.trimEnd().split('\n')).toHaveLength(1);
    expect(said).toMatchObject({ exit: 64, out: '' });
    expect(everything(cwd)).toEqual([]);
  });

  it.each<[string, string]>([
    ['agents: {worker: {kind: foo}}', 'agents.worker.kind: "foo" is not a known kind; allowed: command, human'],
    ['timeouts: {job: 5 parsecs}', 'timeouts.job: "5 parsecs" is not a duration'],
    ['agents: [', 'is not valid YAML'],
    ['a: &a [*a]', 'stepward.config.yaml" is not plain data (Converting circular structure'],
    ['agents: &a [*a]', 'stepward.config.yaml" is not plain data (Converting circular structure'],
    ['registry: /dev/null/x', 'config: registry: "/dev/null/x" lies below something that is not a directory'],
    ['agents: {__proto__: {kind: human}}', 'agents.__proto__: "__proto__" is reserved and names no agent'],
    ['agents: {constructor: {kind: human}}', 'agents.constructor: "constructor" is reserved and names no agent'],
  ])('an invalid config: %s', async (text, sentence) => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'stepward.config.yaml'), text);
    for (const argv of [task, ['ps'], []]) {
      const said = await inside(argv, { cwd });
      expect(said).toMatchObject({ exit: 64, out: '' });
      expect(said.err).toContain(sentence);
    }
    expect(everything(cwd)).toEqual(['stepward.config.yaml']);
  });

  it.each([
    ['throw new Error("no luck")', 'could not be run (no luck)'],
    ['throw Object.create(null)', 'could not be run (no reason given)'],
    ['export default new Proxy({}, { get() { throw new Error("hands off"); } })', '(hands off)'],
    ['export default new Proxy({}, { ownKeys() { throw new Error("hands off"); } })', '(hands off)'],
  ])('a config that is code: %s', async (text, sentence) => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'stepward.config.ts'), text);
    const said = await inside(task, { cwd });
    expect(said.err).toContain(`error: config: "${join(cwd, 'stepward.config.ts')}" `);
    expect(said.err).toContain(sentence);
    expect(said.exit).toBe(64);
    expect(everything(cwd)).toEqual(['stepward.config.ts']);
  });

  it.each([
    ['brief.md', [...human, '--brief', 'brief.md'], '--brief: "brief.md" is not a file'],
    ['stepward.config.yaml', task, 'cannot be read (not a regular file); allowed: a readable file'],
    ['stepward.config.ts', task, 'cannot be read (not a regular file); allowed: a readable file'],
    ['registry.db', [...task, '--registry', '.'], 'registry.db" is not a file'],
    ['registry.db', ['ps', '--registry', '.'], 'registry.db" is not a file'],
  ])('a FIFO as %s: %j', async (name, argv, sentence) => {
    const cwd = freshDir();
    execFileSync('mkfifo', [join(cwd, name)]);
    const said = await inside(argv, { cwd });
    expect(said.err).toContain(sentence);
    expect(said.exit).toBe(64);
    expect(everything(cwd)).toEqual([name]);
  });

  it.each<[string, (path: string) => void]>([
    ['is a directory', (path) => mkdirSync(path)],
    ['is a symlink to nothing', (path) => symlinkSync('/nowhere/at/all', path)],
  ])('a registry.db that %s', async (problem, make) => {
    const cwd = freshDir();
    make(join(cwd, 'registry.db'));
    for (const argv of [task, ['ps'], ['status', '@last']]) {
      const said = await inside([...argv, '--registry', '.'], { cwd });
      expect(said.err).toContain(`error: --registry: "${join(cwd, 'registry.db')}" ${problem}; allowed: a directory`);
      expect(said.exit).toBe(64);
    }
    expect(everything(cwd)).toEqual(['registry.db']);
  });

  it('a registry that is a file', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'file'), '');
    for (const argv of [
      [...task, '--registry', 'file'],
      ['ps', '--registry', 'file'],
    ]) {
      const said = await inside(argv, { cwd });
      expect(said.err).toContain(`error: --registry: "${join(cwd, 'file')}" is not a directory; allowed: a directory`);
      expect(said.exit).toBe(64);
    }
  });

  it('a registry that is no registry', async () => {
    const cwd = freshDir();
    mkdirSync(join(cwd, 'r'));
    writeFileSync(join(cwd, 'r', 'registry.db'), 'this is not a database, however long one looks at it'.repeat(50));
    const said = await inside(['ps', '--registry', 'r'], { cwd });
    expect(said.exit).toBe(64);
    expect(said.err).toContain(join(cwd, 'r', 'registry.db'));
  });

  it('a registry that a newer Stepward wrote', async () => {
    const cwd = freshDir();
    await (await openSqliteRegistry({ dir: join(cwd, 'r'), clock: systemClock })).close();
    const database = (await loadDriver()).open(join(cwd, 'r', 'registry.db'), false);
    database.exec('PRAGMA user_version = 999');
    database.close();
    const before = everything(cwd);
    for (const argv of [['ps'], ['delegate', '--agent', 'human', '--prompt', 'x']]) {
      const said = await inside([...argv, '--registry', 'r'], { cwd });
      expect(said).toMatchObject({ exit: 64, out: '' });
      expect(said.err).toContain('was written by a newer Stepward (schema 999');
    }
    expect(everything(cwd)).toEqual(before);
  });

  it('shows a stack only to who asks for one', async () => {
    const cwd = freshDir();
    const argv = ['status', 'k7f3'];
    expect((await inside(argv, { cwd })).err).not.toContain('    at ');
    expect((await inside([...argv, '--verbose'], { cwd })).err).toContain('    at ');
    expect((await inside(argv, { cwd, env: { STEPWARD_DEBUG: '1' } })).err).toContain('    at ');
  });
});
