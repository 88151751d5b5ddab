// Each text that real agents were seen to change, to run or to lose now arrives exactly, or is refused (facts of the injection matrix).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SIGHTS } from '../../src/agents/live/sights.ts';
import { agrees, prompt } from './driving.ts';
import { installAgents, LIVE_KINDS } from './installation.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import { type Live, startLive } from './rig.ts';

let model: ModelServer;
let bin: string;
const lives: Live[] = [];

beforeAll(async () => {
  bin = installAgents();
  model = await startModelServer();
});
afterEach(async () => {
  for (const live of lives.splice(0)) expect(await live.end()).toEqual([]);
});
afterAll(() => model.close());

const TEXTS = [
  'A short one.',
  'Several lines:\n\n  indented ünïcode 漢字 \u{1f469}\u200d\u{1f4bb}\nהשורה הזאת מימין לשמאל e\u0301',
  '/exit',
  '!touch shell.txt',
  '# a heading',
  '@opencode.json',
  '? what is that',
  '- a list\n- of two',
  'Tabs\tin\tit',
  'Look at @src',
  'Read and follow /tmp/some/brief.md',
  'ends in a semicolon;',
  'ESC \u001b[201~ and BEL \u0007 inside',
  'Line one\n/exit\n!touch shell.txt\nlast line',
];

describe.each(LIVE_KINDS)('%s', (kind) => {
  it('receives every text once and exactly, and runs none of them', async () => {
    const live = await startLive({ kind, bin, model });
    lives.push(live);
    for (const text of TEXTS) await prompt(live, text);
    await agrees(live, 'idle');
    const expected = TEXTS.map((text) => SIGHTS[kind].encode(text).expected);
    expect(model.prompts(live.who).map(({ text }) => text.trim())).toEqual(expected);
    expect(existsSync(join(live.cwd, 'shell.txt'))).toBe(false);
  });
});
