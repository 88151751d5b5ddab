// Opens the bus once: the embedded broker as its holder or as a client of the holder, or a broker from outside.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../registry/sqlite/lock.ts';
import { codeOf, reasonOf } from '../files.ts';
import { addressIn, type Book, newBook, readBook, writeBook } from './book.ts';
import { type Broker, startBroker } from './broker.ts';
import { connectLink } from './client.ts';
import { createInside } from './inside.ts';
import { type Keeper, keepBook } from './keeper.ts';
import type { Link, OnMessage, Will } from './link.ts';
import { type AgentAddress, BusError, type BusSettings } from './types.ts';

/** A lock that the system releases when its holder dies. */
export type TakeLock = (dir: string, name: string) => Promise<Lock | null>;

export interface Connection {
  link: Link;
  /** For agents. */
  agent: AgentAddress;
  /** This process runs the broker, and nobody has come to it yet. */
  asleep: boolean;
}

export interface Opening {
  settings: Exclude<BusSettings, { kind: 'off' }>;
  registryDir: string;
  takeLock: TakeLock;
  onMessage: OnMessage;
  will?: Will;
  /** Somebody has come to the broker that this process runs. */
  onAwake(): void;
  /** A message that could not be taken where nothing is acknowledged. */
  warn(error: unknown): void;
  signal: AbortSignal;
}

/** Throws BusError. */
export function openConnection(opening: Opening): Promise<Connection> {
  return opening.settings.kind === 'external' ? openExternal(opening, opening.settings) : openEmbedded(opening);
}

type External = Extract<BusSettings, { kind: 'external' }>;

/** Without credentials of their own, agents get the driver's: a password lets in, it completes nothing. */
export const externalAddress = ({ url, tls, prefix, credentials, agent }: External): AgentAddress => ({
  url,
  tls,
  prefix,
  credentials: agent ?? credentials,
  protocol: 5,
});

async function openExternal({ onMessage, will, signal }: Opening, settings: External): Promise<Connection> {
  const link = await connectLink({ address: settings, protocol: 5, onMessage, signal, ...(will && { will }) });
  return { link, agent: externalAddress(settings), asleep: false };
}

async function openEmbedded(opening: Opening): Promise<Connection> {
  const { registryDir, takeLock } = opening;
  let lock: Lock | null = null;
  try {
    lock = await takeLock(registryDir, 'bus');
    if (lock) return await hold(opening, lock);
    const book = await readBook(registryDir);
    if (book) return await join(opening, book);
  } catch (error) {
    lock?.release();
    if (error instanceof BusError) throw error;
    const why = `the embedded broker of ${registryDir} cannot be run: ${reasonOf(error)}`;
    throw new BusError('unreachable', why, { cause: error });
  }
  throw new BusError(
    'unreachable',
    `another driver of ${registryDir} holds the embedded broker and has not said yet where it is (bus.json)`,
  );
}

async function join({ onMessage, will, signal, settings, registryDir }: Opening, book: Book): Promise<Connection> {
  if (book.prefix !== settings.prefix) {
    const why = `another driver of ${registryDir} runs the embedded broker with the prefix ${book.prefix}, not ${settings.prefix}`;
    throw new BusError('denied', `${why}; use the same`);
  }
  const address = addressIn(book, 'driver');
  const link = await connectLink({ address, protocol: 4, onMessage, signal, ...(will && { will }) });
  return { link, agent: addressIn(book, 'agent'), asleep: false };
}

async function hold(opening: Opening, lock: Lock): Promise<Connection> {
  const { registryDir, settings, onMessage, onAwake, warn } = opening;
  const present = await readBook(registryDir);
  const wanted: Book = { ...(present ?? newBook(settings.prefix)), prefix: settings.prefix };
  const connection: Partial<Connection> = {};
  let keeper: Keeper | null = null;
  const inside = createInside(onMessage, warn, async () => {
    keeper?.stop();
    await broker.close().catch(() => {});
    lock.release();
  });
  const broker = await listen(wanted.port, (port) =>
    startBroker({
      port,
      prefix: settings.prefix,
      passwords: wanted.users,
      isBusy: inside.isBusy,
      onUp(aedes) {
        inside.attach(aedes);
        connection.asleep = false;
        onAwake();
      },
      onBroken(error) {
        inside.end(new BusError('lost', `the embedded broker has broken: ${error.message}`));
      },
    }),
  );
  const book: Book = { ...wanted, port: broker.port };
  try {
    // Written only now: whoever reads it finds somebody listening.
    if (JSON.stringify(book) !== JSON.stringify(present)) await writeBook(registryDir, book);
  } catch (error) {
    await broker.close();
    throw error;
  }
  keeper = keepBook({ registryDir, book, lock, end: inside.end });
  return Object.assign(connection, {
    link: inside.link,
    agent: addressIn(book, 'agent'),
    asleep: broker.aedes() === null,
  });
}

/** How often, and how far apart, ms: a holder that was killed loses its lock a moment before its port. */
const PORT_TRIES = 8;
const PORT_PAUSE_MS = 50;

/** The port that clients know; another one only if a stranger has it. */
async function listen(port: number, start: (port: number) => Promise<Broker>): Promise<Broker> {
  for (let tries = 1; port !== 0; tries++) {
    try {
      return await start(port);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      if (tries === PORT_TRIES) break;
    }
    await sleep(PORT_PAUSE_MS);
  }
  return start(0);
}
