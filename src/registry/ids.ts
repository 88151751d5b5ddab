// Ids of jobs: sortable by the time of their making, short enough to type, without letters that look like others.

/** Crockford's base 32: no i, l, o, u. Its order is also the order of the characters. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** 2024-01-01. Six digits of seconds from here last until 2058. */
const EPOCH_S = 1_704_067_200;
const TIME_DIGITS = 6;
const RANDOM_DIGITS = 4;

/**
 * A new id: six digits for the second, four at random. Two jobs of one second may get the same one (1 in a million); the registry
 * then refuses the insert with `duplicate_id` and the caller makes another.
 * @param now registry time, ms since 1970. Times before 2024 (simulated clocks) all count as its first second.
 */
export function newId(now: number): string {
  let seconds = Math.max(0, Math.floor(now / 1000) - EPOCH_S);
  let time = '';
  for (let i = 0; i < TIME_DIGITS; i++) {
    time = DIGITS[seconds % 32] + time;
    seconds = Math.floor(seconds / 32);
  }
  const random = globalThis.crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS));
  return time + Array.from(random, (byte) => DIGITS[byte % 32]).join('');
}
