// What is typed, and what it will have been when it has arrived. The live suite types every one of these at the real agents.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameText } from '../../../src/agents/live/encode.ts';
import { LIVE_KINDS, SIGHTS } from '../../../src/agents/live/sights.ts';

describe.each(LIVE_KINDS)('a text for %s', (kind) => {
  const { encode } = SIGHTS[kind];

  it.each(['/exit', '!rm x', '@file', '#note', '?', '-x', '"quoted"', '$skill', '&', '>'])('is defused: %s', (text) => {
    expect(encode(text)).toEqual({ text: expect.stringMatching(/^ \S/), expected: text });
  });

  it('begins with its first letter where that is plain', () => {
    expect(encode('Read /x/brief.md and follow it.').text).toBe('Read /x/brief.md and follow it.');
    expect(encode('漢字').text).toBe('漢字');
  });

  it.each(['look at @src', 'see /x/brief.md'])('ends what could open a menu: %s', (text) => {
    expect(encode(text)).toEqual({ text: `${text} `, expected: text });
  });

  it('holds no control characters but newlines and tabs', () => {
    expect(encode('a\u001b[201~b\u0007\u0000\u009bc\r\nd\te').text).toBe('a[201~bc\nd\te');
  });

  it('is in the form that agents make of it', () => {
    expect(encode('e\u0301 \u{1f469}\u200d\u{1f4bb} \u05e9\u05dc').text).toBe(
      'é \u{1f469}\u200d\u{1f4bb} \u05e9\u05dc',
    );
    expect(encode('  a\n\n').text).toBe('a');
  });

  it.each([
    ['', 'empty'],
    [' \n\t', 'empty'],
    ['\u001b\u0007', 'empty'],
    ['a\\', 'backslash'],
    ['a\\ \n', 'backslash'],
    ['\ud800', 'half a character'],
  ])('is refused where nothing brings it there: %j', (text, why) => {
    expect(() => encode(text)).toThrow(TypeError);
    expect(() => encode(text)).toThrow(why);
  });

  it('arrives as expected, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (wild) => {
        try {
          const { text, expected } = encode(wild);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
          expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
          expect(text).toMatch(/^[\p{L}\p{N} ]/u);
          expect(text).not.toMatch(/\\\s*$/);
          const arrived = kind === 'claude' ? text.replaceAll('\t', '    ') : text;
          expect(sameText(`${arrived} `, expected)).toBe(true);
          expect(encode(text)).toEqual({ text, expected });
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

it('tells texts apart that are not the same', () => {
  expect(sameText('a b', 'a  b')).toBe(false);
  expect(sameText('a', 'a b')).toBe(false);
  expect(sameText('e\u0301\r\n', 'é')).toBe(true);
});
