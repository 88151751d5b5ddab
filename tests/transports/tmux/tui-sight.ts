// How the scripted agent (tui.mjs) is read.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProcess, AgentRecord, Encoded, Reading, ScreenState, Sight } from '../../../src/transports/sight.ts';

interface OwnRecord {
  pid: number;
  state: AgentRecord['state'];
  prompts: string[];
}

const STATES: Readonly<Record<string, ScreenState>> = {
  ready: 'idle',
  working: 'working',
  asking: 'blocked',
  mumbling: 'unknown',
};

/** `encode`: what this one types instead of the line. */
export function tuiSight(dir: string, encode: (line: string) => Encoded = asItStands): Sight {
  const own = (agent: AgentProcess): OwnRecord | null => {
    const path = join(dir, 'record');
    const record = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as OwnRecord) : null;
    return record?.pid === agent.pid ? record : null;
  };
  return {
    kind: 'tui',
    isAgent: ({ argv }) => argv.some((word) => word.endsWith('/tui.mjs')),
    read: ({ text }) => read(text),
    async record(agent) {
      const record = own(agent);
      return record && { state: record.state, source: 'native', because: `its record says ${record.state}` };
    },
    async position(agent) {
      const record = own(agent);
      return record && String(record.prompts.length);
    },
    async received(agent, expected, since) {
      const record = own(agent);
      return record === null ? null : record.prompts.slice(Number(since ?? 0)).includes(expected);
    },
    encode,
    interruptKeys: ['Escape'],
  };
}

const asItStands = (line: string): Encoded => {
  if (line.includes('\n')) throw new TypeError('a prompt is one line');
  return { text: line, expected: line };
};

function read(text: string): Reading {
  const lines = text.split('\n');
  const [, word = ''] = /^= (\w+) =$/.exec(lines[0] ?? '') ?? [];
  const state = STATES[word];
  if (!state) return { state: 'unknown', because: `it begins with ${JSON.stringify(lines[0])}`, composer: null };
  const [from, to] = [lines.indexOf('+--'), lines.lastIndexOf('+--')];
  if (state === 'blocked' || to <= from) return { state, because: `it says ${word}`, composer: null };
  const composer = lines
    .slice(from + 1, to)
    .map((line) => line.replace(/^> ?/, ''))
    .join('');
  return { state: state === 'idle' && composer !== '' ? 'draft' : state, because: `it says ${word}`, composer };
}
