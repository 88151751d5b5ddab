// The agents' own records, read by a live process: its environment, its open files, its port.
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SIGHTS } from '../../../src/agents/live/sights.ts';
import { see } from '../../../src/transports/process-table.ts';
import type { AgentProcess } from '../../../src/transports/sight.ts';

let dir: string;
const children: ChildProcess[] = [];
const servers: Server[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stepward-records-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(dir, { recursive: true, force: true });
});

/** A process of its own group that lives until the test ends, and opens what it is given. */
async function live(o: { env?: Record<string, string>; open?: string; argv?: string[] }): Promise<AgentProcess> {
  const script = `const fs = require('node:fs'); const file = process.argv[1]; if (file) fs.openSync(file, 'a');
    process.stdout.write('ready'); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['-e', script, ...(o.open ? [o.open] : [])], {
    env: { PATH: process.env.PATH ?? '', HOME: dir, ...o.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const seen = see(child.pid!);
  if (!seen || seen === 'unreadable') throw new Error('it has gone');
  return { pid: child.pid!, started: seen.started, argv: o.argv ?? [], cwd: dir };
}

const jsonl = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe('Claude Code’s record', () => {
  const { record, position, received } = SIGHTS.claude;
  const said = (content: unknown, more: object = {}) => ({ type: 'user', message: { role: 'user', content }, ...more });
  const state = (agent: AgentProcess, config: string, more: object = {}) => {
    mkdirSync(join(config, 'sessions'), { recursive: true });
    const file = { sessionId: 's-1', procStart: agent.started, status: 'idle', ...more };
    writeFileSync(join(config, 'sessions', `${agent.pid}.json`), JSON.stringify(file));
  };

  it('says what the process does', async () => {
    const agent = await live({});
    expect(await record(agent)).toBeNull();
    for (const [status, known] of Object.entries({ idle: 'idle', busy: 'working', waiting: 'blocked' })) {
      state(agent, join(dir, '.claude'), { status });
      expect(await record(agent)).toMatchObject({ state: known, source: 'native' });
    }
    state(agent, join(dir, '.claude'), { status: 'dreaming' });
    expect(await record(agent)).toBeNull();
  });

  it('of a former process with the same pid says nothing', async () => {
    const agent = await live({});
    state(agent, join(dir, '.claude'), { procStart: '1' });
    expect(await record(agent)).toBeNull();
    expect(await position(agent)).toBeNull();
    expect(await received(agent, 'x', null)).toBeNull();
  });

  it('lies where the process’s environment says, and not ours', async () => {
    const config = join(dir, 'elsewhere');
    const agent = await live({ env: { CLAUDE_CONFIG_DIR: config } });
    state(agent, join(dir, '.claude'));
    expect(await record(agent)).toBeNull();
    state(agent, config);
    expect(await record(agent)).toMatchObject({ state: 'idle' });
  });

  it('tells a prompt that came after a position from everything else', async () => {
    const agent = await live({});
    state(agent, join(dir, '.claude'));
    const empty = await position(agent);
    expect(await received(agent, 'hello', empty)).toBe(false);
    const folder = join(dir, '.claude', 'projects', '-work');
    mkdirSync(folder, { recursive: true });
    const transcript = join(folder, 's-1.jsonl');
    writeFileSync(
      transcript,
      jsonl(said('hello'), said('aside', { isSidechain: true }), said('meta', { isMeta: true })),
    );
    expect(await received(agent, 'hello', empty)).toBe(true);
    expect(await received(agent, 'aside', empty)).toBe(false);
    expect(await received(agent, 'meta', empty)).toBe(false);
    const after = await position(agent);
    expect(await received(agent, 'hello', after)).toBe(false);
    appendFileSync(transcript, jsonl(said([{ type: 'text', text: 'two\nlines' }]), { type: 'assistant', message: {} }));
    expect(await received(agent, 'two\nlines', after)).toBe(true);
    expect(await received(agent, 'two', after)).toBe(false);
    // A line that is still being written.
    appendFileSync(transcript, JSON.stringify(said('half')).slice(0, -3));
    expect(await received(agent, 'half', after)).toBe(false);
    state(agent, join(dir, '.claude'), { sessionId: 's-2' });
    writeFileSync(join(folder, 's-2.jsonl'), jsonl(said('hello')));
    // Another session's transcript: nobody knows what in it is new.
    expect(await received(agent, 'hello', after)).toBeNull();
  });
});

describe('Codex’s record', () => {
  const { record, position, received } = SIGHTS.codex;
  const event = (type: string, more: object = {}) => ({ type: 'event_msg', payload: { type, ...more } });
  const prompt = (text: string) =>
    event('item_completed', { item: { type: 'UserMessage', content: [{ type: 'text', text }] } });

  it('is the rollout that the process holds open', async () => {
    const rollout = join(dir, 'rollout-2026-1.jsonl');
    writeFileSync(join(dir, 'rollout-2026-2.jsonl'), jsonl(event('task_started')));
    const agent = await live({ open: rollout });
    const empty = await position(agent);
    expect(await record(agent)).toBeNull();
    appendFileSync(rollout, jsonl(event('task_started'), prompt('hello')));
    expect(await record(agent)).toMatchObject({ state: 'working', source: 'transcript' });
    expect(await received(agent, 'hello', empty)).toBe(true);
    expect(await received(agent, 'hello', await position(agent))).toBe(false);
    for (const end of ['task_complete', 'turn_aborted']) {
      appendFileSync(rollout, jsonl(event('task_started'), event(end)));
      expect(await record(agent)).toMatchObject({ state: 'idle' });
    }
  });

  it('is not there before the first prompt, and then everything is new', async () => {
    const agent = await live({});
    expect(await record(agent)).toBeNull();
    expect(await position(agent)).toBe('none');
    expect(await received(agent, 'hello', 'none')).toBe(false);
    const rollout = join(dir, 'rollout-2026-1.jsonl');
    writeFileSync(rollout, jsonl(prompt('hello')));
    expect(await received(await live({ open: rollout }), 'hello', 'none')).toBe(true);
  });
});

describe('OpenCode’s record', () => {
  const { record, position, received } = SIGHTS.opencode;
  type Answers = Record<string, unknown>;

  async function serve(answers: Answers, password?: string): Promise<number> {
    const server = createServer(({ url = '', headers }, response) => {
      const expected = password && `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`;
      const allowed = headers.authorization === expected || !expected;
      response.writeHead(allowed && url in answers ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers[url] ?? null));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const at = (port: number, env = {}) => live({ env, argv: ['opencode', '--port', String(port)] });

  it('says what its sessions do, permissions first', async () => {
    const answers: Answers = { '/permission': [], '/session/status': {} };
    const agent = await at(await serve(answers));
    expect(await record(agent)).toMatchObject({ state: 'idle', source: 'native' });
    answers['/session/status'] = { a: { type: 'busy' } };
    expect(await record(agent)).toMatchObject({ state: 'working' });
    answers['/session/status'] = { a: { type: 'retry' }, b: { type: 'busy' } };
    expect(await record(agent)).toMatchObject({ state: 'retrying' });
    answers['/permission'] = [{ id: 'p' }];
    expect(await record(agent)).toMatchObject({ state: 'blocked' });
  });

  it('tells new prompts by their ids', async () => {
    const user = (id: string, text: string) => ({ info: { id, role: 'user' }, parts: [{ type: 'text', text }] });
    const answers: Answers = { '/session': [{ id: 's' }], '/session/s/message': [user('msg_1', 'hello ')] };
    const agent = await at(await serve(answers));
    const before = await position(agent);
    expect(before).toBe('msg_1');
    expect(await received(agent, 'hello', before)).toBe(false);
    expect(await received(agent, 'hello', null)).toBe(true);
    answers['/session/s/message'] = [user('msg_1', 'hello '), user('msg_2', 'again')];
    expect(await received(agent, 'again', before)).toBe(true);
  });

  it('needs its password, and a server that answers', async () => {
    const port = await serve({ '/permission': [], '/session/status': {} }, 'secret');
    expect(await record(await at(port))).toBeNull();
    expect(await record(await at(port, { OPENCODE_SERVER_PASSWORD: 'secret' }))).toMatchObject({ state: 'idle' });
    expect(await record(await live({ argv: ['opencode'] }))).toBeNull();
    expect(await position(await live({ argv: ['opencode', '--port', '1'] }))).toBeNull();
  });
});
