// `bus.json` in the registry's directory: where the embedded broker of this registry is, and what its users say to get in. A
// successor takes over port and passwords, so that clients and agents come back without being told anything.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { codeOf, FileKindError, readRegular, writeWhole } from '../files.ts';
import { isRecord } from '../names.ts';
import { LOOPBACK } from './loopback.ts';
import { isTopicPrefix } from './topics.ts';
import type { AgentAddress } from './types.ts';
import { type Passwords, USERS, type User } from './users.ts';

const SCHEMA = 'stepward.bus/1';
const BOOK_LIMIT = 16 * 1024;

export interface Book {
  schema: typeof SCHEMA;
  port: number;
  prefix: string;
  users: Passwords;
}

const bookFile = (registryDir: string): string => join(registryDir, 'bus.json');

/** Null: there is none, or it is damaged. Throws the system's error where it may not be read. */
export async function readBook(registryDir: string): Promise<Book | null> {
  let value: unknown;
  try {
    value = JSON.parse(await readRegular(bookFile(registryDir), BOOK_LIMIT));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof FileKindError) return null;
    throw error;
  }
  if (!isRecord(value) || value.schema !== SCHEMA || !isRecord(value.users)) return null;
  const { port, prefix, users } = value;
  const isPort = Number.isSafeInteger(port) && (port as number) > 0 && (port as number) < 65_536;
  const arePasswords = USERS.every((user) => typeof users[user] === 'string' && users[user].length >= 32);
  return isPort && isTopicPrefix(prefix) && arePasswords ? (value as unknown as Book) : null;
}

/** Mode 0600: it holds passwords. */
export async function writeBook(registryDir: string, book: Book): Promise<void> {
  await writeWhole(bookFile(registryDir), `${JSON.stringify(book, null, 2)}\n`, 0o600);
}

/** Its port is 0, so that the system chooses one, which the caller puts in. */
export function newBook(prefix: string): Book {
  const word = () => randomBytes(32).toString('base64url');
  return { schema: SCHEMA, port: 0, prefix, users: { driver: word(), agent: word(), watcher: word() } };
}

export const addressIn = ({ port, prefix, users }: Book, user: User): AgentAddress => ({
  url: `mqtt://${LOOPBACK}:${port}`,
  credentials: { username: user, password: users[user] },
  tls: {},
  prefix,
  protocol: 4,
});
