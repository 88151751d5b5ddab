// The holder of the embedded broker looks now and then whether its book and its lock are still there. Who tidies up in the registry's
// folder would else leave a broker that nobody finds, or two of them, each with half of the drivers.
import { existsSync } from 'node:fs';
import { type Book, readBook, writeBook } from './book.ts';
import { BusError } from './types.ts';

export interface Keeper {
  stop(): void;
}

interface Keeping {
  registryDir: string;
  /** As it was written. */
  book: Book;
  lock: { isStill(): boolean };
  /** Called once: another one may hold the lock now. */
  end(why: BusError): void;
}

/** How often, ms. */
const LOOK_MS = 2000;

export function keepBook({ registryDir, book, lock, end }: Keeping): Keeper {
  let looking = false;
  let stopped = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    // What cannot be looked at, or written again, now (no descriptors, a full disk) is tried again.
    await look().catch(() => {});
    looking = false;
  }, LOOK_MS);
  timer.unref();

  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }

  async function look(): Promise<void> {
    // The whole registry is gone: nobody looks for a broker there, and nothing may make it anew.
    if (!existsSync(registryDir)) return;
    if (!lock.isStill()) {
      stop();
      end(
        new BusError('lost', `the embedded broker is given up, because somebody removed its lock from ${registryDir}`),
      );
      return;
    }
    const lies = await readBook(registryDir).catch(() => null);
    if (!stopped && JSON.stringify(lies) !== JSON.stringify(book)) await writeBook(registryDir, book);
  }

  return { stop };
}
