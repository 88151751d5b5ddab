// A transcript of JSON lines that an agent appends to. A position in it is its name and its length: what comes after it is new.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export type Line = Readonly<Record<string, unknown>>;

/** No transcript yet: whatever appears later is new. */
const NOTHING_YET = 'none';

export const positionIn = (name: string | null, bytes: number): string =>
  name === null ? NOTHING_YET : `${bytes} ${name}`;

/** Where to begin to read; null: the position belongs to another transcript, and nothing can be said about this one. */
export function startOf(position: string | null, name: string): number | null {
  if (position === null) return 0;
  if (position === NOTHING_YET) return 0;
  const [bytes = '', ...rest] = position.split(' ');
  return rest.join(' ') === name && /^\d+$/.test(bytes) ? Number(bytes) : null;
}

/** The lines from there on; null: it cannot be read. One that is half written is left for the next look. */
export function linesFrom(path: string, start: number): Line[] | null {
  const bytes = bytesFrom(path, start);
  if (bytes === null) return null;
  const lines = bytes.toString('utf8').split('\n');
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

/** In bytes; 0: not there. */
export function lengthOf(path: string): number {
  return withFile(path, (file) => fstatSync(file).size) ?? 0;
}

function bytesFrom(path: string, start: number): Buffer | null {
  return withFile(path, (file) => {
    const size = fstatSync(file).size;
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const read = readSync(file, buffer, 0, buffer.length, start);
    return buffer.subarray(0, read);
  });
}

function withFile<T>(path: string, use: (file: number) => T): T | null {
  try {
    const file = openSync(path, 'r');
    try {
      return use(file);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** A part of a value that others wrote. */
export const part = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key], value);

/** The texts of a message's content, which is a text or a list of parts. */
export function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((one) => part(one, 'text')).filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.join('\n') : null;
}
