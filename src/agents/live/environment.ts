// The environment that a process was started with: where an agent keeps its records is written there, and not in ours.
import { readFileSync } from 'node:fs';

/** Null: another user's, gone, or a system without /proc. */
export function environmentOf(pid: number): Readonly<Record<string, string>> | null {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
  } catch {
    return null;
  }
}
