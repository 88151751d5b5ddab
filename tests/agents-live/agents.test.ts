// The real agents: what their screens and their records say, against what a scripted model knows of them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SIGHTS } from '../../src/agents/live/sights.ts';
import { agrees, answer, interrupt, prompt } from './driving.ts';
import { installAgents, LIVE_KINDS } from './installation.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import { agentOf, inShell, killAgent, type Live, type LiveWishes, startLive, until } from './rig.ts';

let model: ModelServer;
let bin: string;
const lives: Live[] = [];

beforeAll(async () => {
  bin = installAgents();
  model = await startModelServer();
});

afterEach(async () => {
  for (const live of lives.splice(0)) {
    expect(await live.end(), `left behind by ${live.who}`).toEqual([]);
    expect(existsSync(live.dir)).toBe(false);
  }
});

afterAll(() => model.close());

async function start(wishes: Omit<LiveWishes, 'bin' | 'model'>): Promise<Live> {
  const live = await startLive({ bin, model, ...wishes });
  lives.push(live);
  return live;
}

describe.each(LIVE_KINDS)('%s', (kind) => {
  it('is idle by record and screen after its start, takes a turn, and is idle again', async () => {
    const live = await start({ kind });
    await prompt(live, 'Task: say something.\n[[say Something.]]');
    await agrees(live, 'idle');
    expect(model.prompts(live.who).map(({ text }) => text.trim())).toEqual([
      'Task: say something.\n[[say Something.]]',
    ]);
  });

  it('works, and a draft meanwhile is not mistaken for rest', async () => {
    const live = await start({ kind });
    const gate = `${live.who}-works`;
    await prompt(live, `Wait. [[gate ${gate}]]`);
    await agrees(live, 'working');
    // The record says so before the model is asked.
    await until('the model is asked', () => model.busy(live.who) === 1);
    await live.terminal.type('typed meanwhile');
    await until('it is typed', async () => (await live.terminal.screen()).text.includes('typed meanwhile'));
    await agrees(live, 'working');
    model.open(gate);
    await agrees(live, 'draft');
    expect(SIGHTS[kind].read(await live.terminal.screen()).composer).toBe('typed meanwhile');
    expect(model.prompts(live.who)).toHaveLength(1);
  });

  it('asks for a permission: blocked, until a key answers it', async () => {
    const live = await start({ kind });
    await prompt(live, 'Ask. [[ask touch asked.txt]]');
    await agrees(live, 'blocked');
    expect(existsSync(join(live.cwd, 'asked.txt'))).toBe(false);
    await answer(live, 'Enter');
    await agrees(live, 'idle');
    expect(existsSync(join(live.cwd, 'asked.txt'))).toBe(true);
  });

  it('is idle after a turn that is interrupted by its own keys', async () => {
    const live = await start({ kind });
    // Not a silent turn: Claude Code would give the prompt back as a draft.
    await prompt(live, 'Talk. [[words 300]]');
    await agrees(live, 'working');
    const talks = async () => /\bword3\b/.test((await live.terminal.screen()).text);
    await until('the answer is on its way', async () => model.busy(live.who) === 1 && (await talks()));
    await interrupt(live, () => model.busy(live.who) === 0);
    await agrees(live, 'idle');
  });

  it('retries, or ends its turn with an error, and says which', async () => {
    const live = await start({ kind });
    await prompt(live, 'Fail. [[fail 500]]');
    await agrees(live, 'retrying');
    // OpenCode and Claude go on for minutes.
    if (kind === 'codex') await agrees(live, 'idle');
  });

  it('is not idle when it was killed, and a shell writes over what it left', async () => {
    const live = await start({ kind, wrap: inShell });
    await agrees(live, 'idle');
    await killAgent(live);
    await until('the shell says so', async () => (await live.terminal.screen()).text.includes('Killed'));
    const read = SIGHTS[kind].read(await live.terminal.screen());
    expect(['exited', 'starting', 'unknown'], read.because).toContain(read.state);
    await expect(agentOf(live)).rejects.toThrow('no ');
  });
});

/** OpenCode asks nothing. */
describe.each(['claude', 'codex'] as const)('%s, new in a folder', (kind) => {
  it('is not idle while it asks something at its start', async () => {
    const wrap = (argv: string[]) => ['sh', '-c', 'git init -q . && exec "$@"', 'sh', ...argv];
    const live = await start({ kind, settled: 'untrusted', wrap });
    const { read } = SIGHTS[kind];
    const state = async () => read(await live.terminal.screen()).state;
    await until('a dialog is seen', async () => {
      expect(await state()).not.toBe('idle');
      return (await state()) === 'dialog';
    });
  });
});
