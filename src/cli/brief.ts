// The task, from one of three places.
import { resolve } from 'node:path';
import { UsageError } from './errors.ts';
import { LONGEST_BYTES, readNamedFile, readStream } from './input.ts';
import type { Io } from './io.ts';
import { plain } from './text.ts';

const WAYS = 'one of --prompt TEXT, --brief FILE, or - for standard input';

export interface TaskFlags {
  prompt?: string | undefined;
  brief?: string | undefined;
  /** `-` was given. */
  stdin: boolean;
}

/** Throws UsageError: none, more than one, empty, unreadable, too long, no text. */
export async function readTask({ prompt, brief, stdin }: TaskFlags, io: Io): Promise<string> {
  const given = [prompt !== undefined && '--prompt', brief !== undefined && '--brief', stdin && '-'].filter(Boolean);
  if (given.length === 0) throw new UsageError({ option: '--prompt', problem: 'is missing', allowed: WAYS });
  if (given.length > 1) {
    throw new UsageError({ option: given.join(', '), problem: 'exclude each other', allowed: WAYS });
  }
  if (prompt !== undefined) return checked('--prompt', undefined, Buffer.from(prompt));
  if (brief !== undefined) {
    const allowed = 'a readable text file of at most 1 MiB';
    const bad = (problem: string) => new UsageError({ option: '--brief', value: brief, problem, allowed });
    return checked('--brief', brief, await readNamedFile(resolve(io.cwd, brief), bad));
  }
  const tooLong = { option: '-', problem: 'standard input is too long', allowed: 'text of at most 1 MiB' };
  return checked('-', undefined, await readStream(io.stdin, () => new UsageError(tooLong)));
}

function checked(option: string, value: string | undefined, bytes: Buffer): string {
  const bad = (problem: string, allowed: string) => new UsageError({ option, value, problem, allowed });
  if (bytes.length > LONGEST_BYTES) throw bad('is too long', 'text of at most 1 MiB');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw bad('is not text', 'UTF-8 text');
  }
  if (text.includes('\0')) throw bad('is not text', 'UTF-8 text without NUL');
  if (plain(text) === '') throw bad('is empty', 'a text that says what to do');
  return text;
}
