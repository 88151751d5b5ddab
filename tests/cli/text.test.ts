import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/cli/nearest.ts';
import { cut, plain, table, titleOf } from '../../src/cli/text.ts';
import { worst } from '../../src/cli/worst.ts';

describe('text for terminals', () => {
  it('takes out everything that a terminal would obey', () => {
    expect(plain('\x1b[2Jred\x07\r\nnext\u202eover\u009b31m')).toBe('[2Jred next over 31m');
  });

  it('cuts between characters', () => {
    expect(cut('🦊🦊🦊🦊', 3)).toBe('🦊🦊…');
    expect(cut('abc', 3)).toBe('abc');
    expect(cut('abc', 0)).toBe('…');
  });

  it('titles a task by its first line that says something', () => {
    expect(titleOf('\n  \n## Fix the login\n\nmore')).toBe('Fix the login');
    expect(titleOf('x'.repeat(100))).toBe(`${'x'.repeat(79)}…`);
  });

  it('aligns columns by the bare text, however it is painted', () => {
    const rows = [
      ['a', 'bb', 'c'],
      ['aaaa', 'b', ''],
    ];
    expect(table(rows, (cell, _row, column) => (column === 0 ? `<${cell}>` : cell))).toEqual([
      '<a>     bb  c',
      '<aaaa>  b',
    ]);
  });
});

describe('did you mean', () => {
  it.each([
    ['comand', 'command'],
    ['cmomand', 'command'],
    ['HUMAN', 'human'],
    ['timeout', 'timeouts'],
  ])('%s → %s', (word, meant) => {
    expect(nearest(word, ['command', 'human', 'timeouts', 'agents'])).toBe(meant);
  });

  it('offers nothing that is far, and nothing to a word of two letters', () => {
    expect(nearest('zebra', ['command', 'human'])).toBeNull();
    expect(nearest('v', ['w'])).toBeNull();
  });
});

describe('the worst exit code', () => {
  it.each([
    [[0, 0], 0],
    [[0, 5], 5],
    [[5, 2], 2],
    [[2, 1, 0], 1],
    [[], 0],
    [[0, 4, 5], 4],
  ])('of %j is %i', (codes, exit) => {
    expect(worst(codes)).toBe(exit);
  });
});
