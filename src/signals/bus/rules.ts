// What aedes asks before it lets anybody in or anything through (docs/design.md section 6; the table is users.ts).
import type { AedesOptions, AuthenticateError, Client } from 'aedes';
import type { Passage } from './passage.ts';
import { mayPublish, maySubscribe, type Passwords, type User, userOf } from './users.ts';

/** Seconds. Longer ones, and 0 (never), are shortened: a client that has gone silent must not keep its place for ever. */
const KEEPALIVE_LIMIT = 300;
/** Of one client that is no driver: an agent needs one, a watcher two. Each of them is memory. */
const SUBSCRIPTIONS_LIMIT = 100;
/** Messages of QoS 2 that a client may leave half done: each is kept whole. Nobody of ours sends any. */
const HALF_DONE_LIMIT = 20;

interface Needs {
  prefix: string;
  passwords: Passwords;
  /** For what is not a driver's. */
  passage: Passage;
  /** A driver has come. */
  onDriver(client: Client): void;
}

export function createRules({ prefix, passwords, passage, onDriver }: Needs) {
  const users = new WeakMap<Client, User>();
  const userFor = (client: Client | null): User | undefined => (client ? users.get(client) : undefined);
  return {
    maxInflightInbound: HALF_DONE_LIMIT,
    preConnect(_client, packet, done): void {
      // aedes keeps the messages for a session whose client is away, in memory and without a limit. The client is told (CONNACK)
      // that there is no session.
      packet.clean = true;
      packet.keepalive = Math.min(packet.keepalive || KEEPALIVE_LIMIT, KEEPALIVE_LIMIT);
      done(null, true);
    },
    authenticate(client, username, password, done): void {
      const user = userOf(passwords, username, password);
      if (user !== null) users.set(client, user);
      if (user === 'driver') onDriver(client);
      const refused = Object.assign(new Error('bad user name or password'), { returnCode: 4 }) as AuthenticateError;
      done(user === null ? refused : null, user !== null);
    },
    authorizePublish(client, { topic, payload, retain = false }, done): void {
      const user = userFor(client);
      const publication = { topic, size: Buffer.byteLength(payload), retain };
      if (user === undefined || !mayPublish(prefix, user, publication)) done(new Error('not allowed'));
      else if (user === 'driver') done(null);
      else passage.enter(() => done(null));
    },
    authorizeSubscribe(client, subscription, done): void {
      const user = userFor(client);
      const may = user !== undefined && maySubscribe(prefix, user, subscription.topic);
      done(null, may && (user === 'driver' || hasRoom(client)) ? subscription : null);
    },
  } satisfies AedesOptions;
}

/** aedes does not say in its types that it keeps them here. */
const hasRoom = (client: Client): boolean =>
  Object.keys((client as Client & { subscriptions?: object }).subscriptions ?? {}).length < SUBSCRIPTIONS_LIMIT;
