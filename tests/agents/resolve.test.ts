import { describe, expect, it } from 'vitest';
import type { AgentEntry } from '../../src/agents/entry.ts';
import { KINDS, PROFILES } from '../../src/agents/index.ts';
import { knownAgents, resolveAgent } from '../../src/agents/resolve.ts';
import { parseSession } from '../../src/agents/session.ts';
import { WAYS } from '../../src/signals/env-file.ts';
import { TRANSPORTS } from '../../src/transports/transport.ts';

const agents: Record<string, AgentEntry> = {
  worker: { kind: 'command', command: ['node', 'a.js', '{brief}'], env: { A: '1' } },
  shared: { kind: 'command', command: ['x'], session: 'headless:one' },
  human: { kind: 'human', session: 'human:reception' },
};

describe('an agent’s name', () => {
  it('gives everything that a job must know', () => {
    expect(resolveAgent('worker', agents)).toEqual({
      ok: true,
      agent: {
        agent: 'worker',
        kind: 'command',
        transport: 'headless',
        target: '',
        argv: ['node', 'a.js', '{brief}'],
        env: { A: '1' },
        ways: ['inbox', 'bus', 'spool'],
      },
    });
  });

  it('may be that of a kind, unless the config takes the name for itself', () => {
    expect(resolveAgent('human', {})).toMatchObject({ ok: true, agent: { transport: 'human', target: '', argv: [] } });
    expect(resolveAgent('human', agents)).toMatchObject({ ok: true, agent: { target: 'reception' } });
    expect(knownAgents(agents)).toEqual(['worker', 'shared', 'human', 'command']);
  });

  it.each(['nobody', 'toString', '__proto__', ''])('is refused if unknown, with the known ones: %j', (name) => {
    expect(resolveAgent(name, agents)).toEqual({ ok: false, part: 'name', known: knownAgents(agents) });
  });

  it('takes the caller’s command line and session over the configured ones', () => {
    const extras = { command: ['y', 'z'], session: 'headless:two' };
    expect(resolveAgent('shared', agents, extras)).toMatchObject({
      ok: true,
      agent: { argv: ['y', 'z'], target: 'two' },
    });
    expect(resolveAgent('shared', agents)).toMatchObject({ ok: true, agent: { argv: ['x'], target: 'one' } });
  });

  it('needs a command line where the kind starts one, and refuses one where it does not', () => {
    expect(resolveAgent('command', {})).toEqual({ ok: false, part: 'missing-command', kind: 'command' });
    expect(resolveAgent('command', {}, { command: [] })).toMatchObject({ ok: false, part: 'missing-command' });
    expect(resolveAgent('human', {}, { command: ['x'] })).toMatchObject({ ok: false, part: 'command', value: 'x' });
  });

  it('refuses a session that its kind cannot have', () => {
    expect(resolveAgent('worker', agents, { session: 'human:a' })).toMatchObject({ ok: false, part: 'session' });
    expect(resolveAgent('worker', agents, { session: '' })).toMatchObject({ ok: false, part: 'session', value: '' });
  });
});

describe('the ways', () => {
  it('are all three, unless the config names some', () => {
    const far: AgentEntry = { kind: 'human', ways: ['bus'] };
    expect(resolveAgent('far', { far })).toMatchObject({ ok: true, agent: { ways: ['bus'] } });
    expect(resolveAgent('human', {})).toMatchObject({ ok: true, agent: { ways: [...WAYS] } });
  });

  it.each<[AgentEntry['ways'], string]>([
    [[], 'leaves the agent no way to speak'],
    [['bus', 'bus'], 'names a way twice'],
  ])('%j is refused', (ways, problem) => {
    const resolution = resolveAgent('w', { w: { kind: 'human', ways } });
    expect(resolution).toMatchObject({ ok: false, part: 'ways', problem });
  });
});

describe('a session’s name', () => {
  it.each(['headless:a', 'human:%3', 'headless:a.b-c_d@e'])('may be %s', (text) => {
    expect(parseSession(text)).toEqual({ transport: text.split(':')[0], target: text.split(':')[1] });
  });

  it.each([
    '',
    'a',
    ':a',
    'headless:',
    'screen:%3',
    'headless:..',
    'headless:a/b',
    'headless:a b',
    'headless:-x',
    `human:${'x'.repeat(65)}`,
  ])('is not %j', (text) => {
    expect(parseSession(text)).toBeNull();
  });
});

describe('the profiles', () => {
  it.each(KINDS)('%s is whole', (kind) => {
    const profile = PROFILES[kind];
    expect(profile.kind).toBe(kind);
    expect(profile.summary).not.toBe('');
    expect(TRANSPORTS).toEqual(expect.arrayContaining([...profile.transports]));
  });
});
