// Durations as people write them: `90s`, `10m`, `1h30m`, `2d`, `500ms`. A bare number is refused: nobody remembers its unit.

const UNITS = Object.freeze({ d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const);
type Unit = keyof typeof UNITS;

const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|d|h|m|s))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|d|h|m|s)/g;

/** Longer is a typo, and absolute times must stay exact. */
const LONGEST_MS = 366 * UNITS.d;

export const DURATION_FORM = 'a duration above 0 and up to 366d, such as 500ms, 90s, 10m, 1h30m, 2d';

/** Milliseconds, or null if the text is no duration: each unit at most once, larger before smaller. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (!WHOLE.test(trimmed)) return null;
  let total = 0;
  let lastUnit = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of trimmed.matchAll(PART)) {
    const size = UNITS[unit as Unit];
    if (size >= lastUnit) return null;
    lastUnit = size;
    total += Number(amount) * size;
  }
  const ms = Math.round(total);
  return ms > 0 && ms <= LONGEST_MS ? ms : null;
}

/** For people: at most two units, rounded down, never negative: `1h2m`, `3m5s`, `12s`, `0s`; `exact` writes all units there are. */
export function formatDuration(ms: number, exact = false): string {
  const parts: string[] = [];
  let left = Math.max(0, Math.floor(ms));
  for (const [unit, size] of Object.entries(UNITS)) {
    if (unit === 'ms' && !exact) break;
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
    // A unit that is zero between two others still ends the pair: 1h, not 1h5s.
    if (!exact && parts.length > 0 && (parts.length === 2 || amount === 0)) break;
  }
  return parts.join('') || '0s';
}
