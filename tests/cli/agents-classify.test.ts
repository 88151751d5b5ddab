// `stepward agents classify`: the state and why; bad input names what is allowed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captured } from '../agents/screens/fixtures.ts';
import { everything, freshDir, inside } from './inside.ts';

const blocked = captured('claude').find(({ name }) => name === 'blocked-80x24')!;
const streaming = captured('codex').find(({ name }) => name === 'working-streaming-80x24')!;
const base = ['agents', 'classify'];

describe('stepward agents classify', () => {
  it('reads a file and says the state and why', async () => {
    const cwd = freshDir();
    writeFileSync(join(cwd, 'screen.txt'), blocked.text);
    const said = await inside([...base, '--kind', 'claude', '--screen', 'screen.txt', '--json'], { cwd });
    expect(said).toMatchObject({ exit: 0, err: '' });
    expect(JSON.parse(said.out)).toEqual({ state: 'blocked', because: expect.stringContaining('permission') });
    const plain = await inside([...base, '--kind', 'claude', '--screen', 'screen.txt'], { cwd });
    expect(plain.out).toMatch(/^blocked: a permission is asked for: Yes/);
    expect(everything(cwd)).toEqual(['screen.txt']);
    expect(readFileSync(join(cwd, 'screen.txt'), 'utf8')).toBe(blocked.text);
  });

  it('reads standard input, with colours and the ends of lines of other systems', async () => {
    const input = `\u001b[1m${blocked.text.replaceAll('\n', '\r\n')}\u001b[0m`;
    const said = await inside([...base, '--kind=claude', '--screen=-', '--json'], { cwd: freshDir(), input });
    expect(JSON.parse(said.out)).toMatchObject({ state: 'blocked' });
  });

  it('uses the title where it is given', async () => {
    const argv = [...base, '--kind', 'codex', '--screen', '-', '--json'];
    const options = { cwd: freshDir(), input: streaming.text };
    const without = await inside(argv, options);
    const withTitle = await inside([...argv, '--title', streaming.title], options);
    expect(JSON.parse(without.out)).toMatchObject({ state: 'unknown' });
    expect(JSON.parse(withTitle.out)).toMatchObject({ state: 'working' });
  });

  it('says unknown of an empty screen', async () => {
    const said = await inside([...base, '--kind', 'opencode', '--screen', '-'], { cwd: freshDir() });
    expect(said).toMatchObject({ exit: 0, out: 'unknown: the screen is empty\n' });
  });

  const kinds = 'allowed: claude, codex, opencode';
  it.each([
    ['no action', ['agents'], 'ACTION: is missing; allowed: classify'],
    ['an unknown action', ['agents', 'clasify'], 'ACTION: "clasify" is not known (did you mean "classify"?)'],
    ['no kind', [...base, '--screen', '-'], `--kind: is missing; ${kinds}`],
    ['an unknown kind', [...base, '--kind', 'gemini', '--screen', '-'], `--kind: "gemini" is not a kind`],
    ['an unknown kind’s allowed ones', [...base, '--kind', 'x', '--screen', '-'], kinds],
    ['no screen', [...base, '--kind', 'claude'], '--screen: is missing; allowed: a text file'],
    ['a screen that is not there', [...base, '--kind', 'claude', '--screen', 'no'], '--screen: "no" does not exist'],
    ['a directory', [...base, '--kind', 'claude', '--screen', '.'], '--screen: "." is not a file'],
  ])('refuses %s', async (_, argv, sentence) => {
    const cwd = freshDir();
    const said = await inside(argv, { cwd });
    expect(said).toMatchObject({ exit: 64, out: '' });
    expect(said.err).toContain(sentence);
    expect(everything(cwd)).toEqual([]);
  });

  it('refuses what is not text, and what is no screen by its size', async () => {
    const argv = [...base, '--kind', 'claude', '--screen', '-'];
    const binary = await inside(argv, { cwd: freshDir(), input: Buffer.from([0xff, 0xfe]) });
    expect(binary).toMatchObject({ exit: 64, err: expect.stringContaining('is not UTF-8 text') });
    const huge = await inside(argv, { cwd: freshDir(), input: 'x'.repeat(1_048_577) });
    expect(huge).toMatchObject({ exit: 64, err: expect.stringContaining('too long') });
  });
});
