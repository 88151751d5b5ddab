// The embedded broker: aedes on loopback. It listens with plain node:net at once and loads aedes when somebody comes: a delegate
// that nobody reaches by MQTT must not pay 60 ms and 20 MB for it.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Aedes } from 'aedes';
import { createFrames } from './frames.ts';
import { CLOSE_MS, within } from './link.ts';
import { LOOPBACK } from './loopback.ts';
import { createPassage } from './passage.ts';
import { createRules } from './rules.ts';
import { hangUpOnUnread } from './unread.ts';
import type { Passwords } from './users.ts';

export interface BrokerOptions {
  /** 0: any. */
  port: number;
  prefix: string;
  passwords: Passwords;
  /** aedes is there: whatever was published before was heard by nobody, and is not retained. */
  onUp(aedes: Aedes): void;
  /** The driver in this process has enough to do: agents' events wait. */
  isBusy(): boolean;
  /** It cannot be loaded or has broken; nothing works any more. */
  onBroken(error: Error): void;
}

export interface Broker {
  readonly port: number;
  /** Null until somebody has come. */
  aedes(): Aedes | null;
  close(): Promise<void>;
}

/** A stranger on this machine may connect, but not stay without a login, nor use up our descriptors. */
const LOGIN_MS = 5000;
const CONNECTIONS = 512;
/** Bytes that a driver has not read yet: above this, agents' events wait until it has, or is hung up on. */
const DRIVER_UNREAD = 1024 * 1024;

/** Throws the system's error (EADDRINUSE, …). */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const sockets = new Set<Socket>();
  let loading: Promise<Aedes> | null = null;
  let aedes: Aedes | null = null;
  let closed = false;
  const drivers = new Set<Socket>();
  const passage = createPassage(
    () => options.isBusy() || [...drivers].some(({ writableLength }) => writableLength > DRIVER_UNREAD),
  );
  const rules = createRules({
    prefix: options.prefix,
    passwords: options.passwords,
    passage,
    onDriver: ({ conn }) => void drivers.add(conn as Socket),
  });

  async function load(): Promise<Aedes> {
    const { Aedes } = await import('aedes');
    const broker = await Aedes.createBroker({ connectTimeout: LOGIN_MS, ...rules });
    broker.on('error' as 'closed', options.onBroken as () => void);
    return broker;
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      drivers.delete(socket);
    });
    // Until aedes listens to them itself: an error nobody hears would end the process.
    socket.on('error', () => {});
    limitPackets(socket);
    hangUpOnUnread(socket);
    loading ??= load();
    loading.then(
      (broker) => {
        if (closed) return broker.close();
        if (aedes === null) {
          aedes = broker;
          options.onUp(broker);
        }
        if (!socket.destroyed) broker.handle(socket);
      },
      (error: Error) => options.onBroken(error),
    );
  });
  server.maxConnections = CONNECTIONS;
  server.on('error', () => {});
  await listen(server, options.port);
  const port = (server.address() as { port: number }).port;

  return {
    port,
    aedes: () => aedes,
    async close() {
      if (closed) return;
      closed = true;
      passage.close();
      const done = once(server, 'close');
      server.close();
      // First its clients, so that their wills are not mistaken for deaths that nobody would hear of anyway.
      const quiet = new Promise<void>((resolve) => (aedes ? aedes.close(resolve) : resolve()));
      await within(CLOSE_MS, quiet, () => new Error('late')).catch(() => {});
      for (const socket of sockets) socket.destroy();
      await done;
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  const failed = once(server, 'error').then(([error]) => Promise.reject(error));
  server.listen({ host: LOOPBACK, port, exclusive: true });
  await Promise.race([once(server, 'listening'), failed]);
  failed.catch(() => {});
}

/** aedes takes what comes by `read` and only by it, so that is where lengths can be seen before they are believed. */
function limitPackets(socket: Socket): void {
  const fits = createFrames();
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null || fits(chunk)) return chunk;
    socket.destroy();
    return null;
  };
}
