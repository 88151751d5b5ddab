// How a lost broker is sought again: soon at first, never in step with the others that lost it too.

const FIRST_MS = 200;
const LONGEST_MS = 3000;
/** After a connection that stood: whoever comes first takes over the embedded broker. */
const AT_ONCE_MS = 20;

/** @param failures in a row @returns ms, of which up to a half is chance */
export function backOff(failures: number): number {
  const longest = failures === 0 ? AT_ONCE_MS : Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
  return longest * (0.5 + Math.random() / 2);
}
