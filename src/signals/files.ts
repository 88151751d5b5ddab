// Two ways with files that everything here uses: written whole or not at all, and read without being led astray.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The name of a half-written file; readers of a directory leave such names alone. */
export const isTemporary = (name: string): boolean => name.startsWith('.') || name.endsWith('.tmp');

/** A temporary file in the same directory, synced, then renamed: a crash leaves the old content or the new one. */
export async function writeWhole(path: string, content: string, mode = 0o644): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Without it a power cut can forget the rename. Some file systems cannot do it; then there is nothing to do. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => null);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

/** What is there is not a regular file, or is too long. */
export class FileKindError extends Error {
  override name = 'FileKindError';
}

/** Opens a regular file and nothing else: no symlink is followed, and a FIFO does not hang the reader. Throws FileKindError, or
 *  the system's error. */
export async function openRegular(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP') throw new FileKindError('a symlink, not a regular file');
    if (error.code === 'ENXIO') throw new FileKindError('a socket or a pipe, not a regular file');
    throw error;
  });
  const isFile = await file.stat().then((stat) => stat.isFile());
  if (isFile) return file;
  await file.close();
  throw new FileKindError('not a regular file');
}

/** @param limit bytes */
export async function readRegular(path: string, limit: number): Promise<string> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    if (size > limit) throw new FileKindError(`longer than ${limit} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
