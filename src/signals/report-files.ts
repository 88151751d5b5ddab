// Which files may be handed in, and what is in them.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { InputError } from './errors.ts';
import { codeOf, FileKindError, openRegular, reasonOf } from './files.ts';

export interface Content {
  sha256: string;
  bytes: number;
}

interface Given {
  option: string;
  value: string;
}

export interface HandedIn {
  /** Absolute, no link in it. */
  real: string;
  content: Content;
}

const MOST_FILES = 1000;
const CHUNK_BYTES = 1024 * 1024;

/** In the order given, each once. The first is the report, which must say something. Throws InputError.
 *  @param root the working directory, no link in it
 *  @param from what relative values are relative to */
export async function handedIn(root: string, from: string, given: Given[], manifest: string): Promise<HandedIn[]> {
  if (given.length > MOST_FILES) {
    throw new InputError('--artifact', null, `there are ${given.length - 1} of them`, `${MOST_FILES - 1} at the most`);
  }
  const files = new Map<string, HandedIn>();
  for (const [index, { option, value }] of given.entries()) {
    const refuse = (problem: string) =>
      new InputError(option, value, problem, `a regular file inside the working directory ${root}`);
    if (value === '') throw refuse('is empty');
    const real = await pathInside(root, resolve(from, value)).catch((error: unknown) => {
      throw refuse(isAbsent(error) ? 'does not exist' : `cannot be read (${reasonOf(error)})`);
    });
    if (real === null) throw refuse('lies outside the working directory, or a symlink in it leads out');
    // Its own hash cannot be in it.
    if (real === (await realpath(manifest).catch(() => null))) throw refuse('is the manifest itself');
    const { content, isBlank } = await contentOf(real).catch((error: unknown) => {
      throw refuse(error instanceof FileKindError ? `is ${error.message}` : `cannot be read (${reasonOf(error)})`);
    });
    if (index === 0 && isBlank) {
      throw new InputError(option, value, 'is empty', 'a report that says what was done');
    }
    if (!files.has(real)) files.set(real, { real, content });
  }
  return [...files.values()];
}

const isAbsent = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';

/** The real path, or null if it is not below `root`. Judged by real paths only: a link in any component can lead out, and a
 *  working directory may be reached by several names. Throws what realpath throws. */
export async function pathInside(root: string, path: string): Promise<string | null> {
  const real = await realpath(path);
  const way = relative(root, real);
  const isOutside = way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? null : real;
}

export interface Expected {
  bytes: number;
  signal?: AbortSignal | undefined;
}

/** Streamed: an artifact may be larger than the memory. Throws FileKindError if it is not a regular file.
 *  @param expected a file of another size is not read, its sha256 is ''; one that grows meanwhile is read one byte too far at
 *  most. Throws the signal's reason when aborted. */
export async function contentOf(path: string, expected?: Expected): Promise<{ content: Content; isBlank: boolean }> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    if (expected && size !== expected.bytes) return { content: { sha256: '', bytes: size }, isBlank: false };
    const most = expected ? expected.bytes + 1 : Number.POSITIVE_INFINITY;
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    let isBlank = true;
    for (;;) {
      expected?.signal?.throwIfAborted();
      const length = Math.min(CHUNK_BYTES, most - bytes);
      const { bytesRead } = length === 0 ? { bytesRead: 0 } : await file.read(buffer, 0, length);
      if (bytesRead === 0) return { content: { sha256: hash.digest('hex'), bytes }, isBlank };
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      bytes += bytesRead;
      isBlank &&= chunk.every((byte) => byte <= 0x20);
    }
  } finally {
    await file.close();
  }
}
