// What a command reads whole: a file that somebody named, or standard input.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from './errors.ts';

/** More than this is a file of data, no task and no screen. */
export const LONGEST_BYTES = 1_048_576;

type Bad = (problem: string) => UsageError;

/** @param file absolute. Throws what `bad` makes: not there, not a file, too long, unreadable. */
export async function readNamedFile(file: string, bad: Bad): Promise<Buffer> {
  try {
    // Of a FIFO, too, which would otherwise wait for a writer. Not `openRegular`: a named file may be a symlink.
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

/** Throws what `tooLong` makes as soon as it is: the rest is not waited for. */
export async function readStream(stream: Readable, tooLong: () => UsageError): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > LONGEST_BYTES) throw tooLong();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
