import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/cli/durations.ts';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    [' 1h ', 3_600_000],
    ['366d', 31_622_400_000],
  ])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '5 parsecs',
    '',
    '10',
    '0s',
    '-5m',
    '1h 30m',
    '30m1h',
    '1h1h',
    '1m1m',
    '1e3s',
    '367d',
    'h',
    '10M',
    '1ms1s',
    '٣m',
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it.each([
    [0, '0s'],
    [999, '0s'],
    [-5, '0s'],
    [12_000, '12s'],
    [185_000, '3m5s'],
    [3_600_000, '1h'],
    [3_605_000, '1h'],
    [3_725_000, '1h2m'],
    [90_061_000, '1d1h'],
  ])('says %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('reads back what it writes exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 366 * 86_400_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms, true))).toBe(ms);
      }),
    );
  });
});
