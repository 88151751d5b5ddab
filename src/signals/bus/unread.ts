// A client of the embedded broker that does not read. aedes waits for such a one with every message that goes to it, and holds up
// all others meanwhile. So nobody waits: what is written is kept for a while, and who does not fetch it is hung up on.
import type { Socket } from 'node:net';

/** How long a client may leave unread what was written to it, ms. */
export const UNREAD_MS = 5000;
/** Bytes that may lie there for one client: as many retained states as come at once with a subscription. */
export const UNREAD_LIMIT = 8 * 1024 * 1024;

/** Every `write` says from now on that it may go on. The socket is destroyed where nothing was fetched for `ms`. */
export function hangUpOnUnread(socket: Socket, ms: number = UNREAD_MS, limit: number = UNREAD_LIMIT): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let timer: NodeJS.Timeout | undefined;
  let fetched = 0;
  const fetchedNow = () => socket.bytesWritten - socket.writableLength;

  function watch(): void {
    fetched = fetchedNow();
    timer = setTimeout(() => setImmediate(() => setImmediate(look)), ms);
    timer.unref();
  }

  /** After a turn of the loop: a process that stood still finds its timers due before it hears what was fetched meanwhile. */
  function look(): void {
    timer = undefined;
    if (socket.destroyed || socket.writableLength === 0) return;
    if (fetchedNow() === fetched) socket.destroy();
    else watch();
  }

  socket.write = ((...args: unknown[]) => {
    write(...args);
    if (socket.writableLength > limit) socket.destroy();
    else if (timer === undefined && socket.writableLength > 0) watch();
    return true;
  }) as Socket['write'];
  socket.once('close', () => clearTimeout(timer));
}
