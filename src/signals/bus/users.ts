// Who may do what on the embedded broker (docs/design.md section 6). Pure. A driver does everything below the prefix; an agent
// speaks and hears its answer; a watcher only looks.
import { timingSafeEqual } from 'node:crypto';
import { ENVELOPE_LIMIT } from '../envelope.ts';
import { isJobId } from '../names.ts';
import { hostTopic, parseTopic, rootOf } from './topics.ts';

export const USERS = Object.freeze(['driver', 'agent', 'watcher'] as const);
export type User = (typeof USERS)[number];
export type Passwords = Readonly<Record<User, string>>;

/** Null: not let in. */
export function userOf(passwords: Passwords, username: string | undefined, password: Buffer | undefined): User | null {
  const user = USERS.find((name) => name === username);
  if (user === undefined || password === undefined) return null;
  const expected = Buffer.from(passwords[user]);
  return expected.length === password.length && timingSafeEqual(expected, password) ? user : null;
}

export interface Publication {
  topic: string;
  /** Bytes. */
  size: number;
  retain: boolean;
}

export function mayPublish(prefix: string, user: User, { topic, size, retain }: Publication): boolean {
  if (user === 'driver') return topic.startsWith(rootOf(prefix));
  if (user === 'watcher') return false;
  // A retained event would be told to every later driver, long after its attempt.
  return parseTopic(prefix, topic)?.kind === 'events' && !retain && size <= ENVELOPE_LIMIT;
}

export function maySubscribe(prefix: string, user: User, filter: string): boolean {
  const root = rootOf(prefix);
  if (user === 'driver') return filter.startsWith(root);
  const [kind, name = '', ...rest] = filter.startsWith(root) ? filter.slice(root.length).split('/') : [];
  if (user === 'agent') {
    const [attempt = '', what] = rest;
    const isAttempt = attempt === '+' || /^[1-9]\d*$/.test(attempt);
    return kind === 'jobs' && isJobId(name) && rest.length === 2 && isAttempt && what === 'receipts';
  }
  if (kind === 'jobs') return (name === '+' || isJobId(name)) && rest.length === 1 && rest[0] === 'state';
  return filter === hostTopic(prefix, '+') || parseTopic(prefix, filter)?.kind === 'host';
}
