import { describe, expect, it } from 'vitest';
import { newId } from '../../src/registry/ids.ts';

describe('newId', () => {
  const at = (iso: string) => Date.parse(iso);

  it('sorts by the second of its making', () => {
    const times = [
      '2024-01-01T00:00:01Z',
      '2024-01-01T00:00:33Z',
      '2026-11-30T10:00:00Z',
      '2026-11-30T10:00:01Z',
      '2057-12-31T23:59:59Z',
    ];
    const ids = times.map((time) => newId(at(time)));
    expect(ids.toSorted()).toEqual(ids);
    expect(newId(at('2026-11-30T10:00:00.999Z')).slice(0, 6)).toBe(ids[2]!.slice(0, 6));
  });

  it('is ten unmistakable characters', () => {
    for (let i = 0; i < 200; i++) expect(newId(at('2026-11-30T10:00:00Z'))).toMatch(/^[0-9a-hjkmnp-tv-z]{10}$/);
  });

  it('differs within one second', () => {
    const ids = Array.from({ length: 50 }, () => newId(at('2026-11-30T10:00:00Z')));
    // One pair may meet by chance (1 in 900 runs), two pairs do not.
    expect(new Set(ids).size).toBeGreaterThanOrEqual(49);
  });

  it('works on a simulated clock that starts at 0', () => {
    expect(newId(0)).toMatch(/^000000.{4}$/);
  });
});
