// The task, from one of three places.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { plain } from './text.ts';

/** It is kept in the job's row and typed into nothing; more than this is a file of data that the task should point to. */
const LONGEST_BYTES = 1_048_576;

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
  if (brief !== undefined) return checked('--brief', brief, await readBrief(resolve(io.cwd, brief), brief));
  return checked('-', undefined, await readAll(io.stdin));
}

async function readBrief(file: string, given: string): Promise<Buffer> {
  const bad = (problem: string) =>
    new UsageError({ option: '--brief', value: given, problem, allowed: 'a readable text file of at most 1 MiB' });
  try {
    // Of a FIFO, too, which would otherwise wait for a writer. Not `openRegular`: a brief may be a symlink.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw bad('is not a file');
      if (stats.size > LONGEST_BYTES) throw bad(`is too long (${stats.size} bytes)`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw bad(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? String(error)})`);
  }
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > LONGEST_BYTES) break;
    chunks.push(bytes);
  }
  if (size > LONGEST_BYTES) {
    throw new UsageError({ option: '-', problem: 'standard input is too long', allowed: 'text of at most 1 MiB' });
  }
  return Buffer.concat(chunks);
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
