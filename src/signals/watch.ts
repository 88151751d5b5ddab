// Says soon that something may be in the spool: fs.watch for speed, a poll each second for truth. A watch is bound to one
// directory's inode, so it goes deaf without a word when an agent sweeps the directory away (`git clean -fdx`) and makes it anew.
import { type FSWatcher, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { codeOf } from './files.ts';
import { hasNews, SpoolError, type SpoolPaths } from './spool.ts';

const POLL_MS = 1000;

export interface SpoolWatch {
  close(): void;
}

/** `onNews` is a hint and may come for nothing. Neither the watch nor the poll keeps the process alive. Throws SpoolError if the
 *  directory is not there at the start. */
export async function watchSpool(paths: SpoolPaths, onNews: () => void): Promise<SpoolWatch> {
  let watcher: FSWatcher | null = null;
  let watched: string | null = null;
  let closed = false;

  const drop = () => {
    watcher?.close();
    watcher = null;
    watched = null;
  };
  const follow = async (): Promise<boolean> => {
    const identity = await identityOf(paths.spool);
    if (closed || (identity !== null && identity === watched)) return identity !== null;
    drop();
    if (identity === null) return false;
    try {
      watcher = watch(paths.spool, { persistent: false }, onNews).on('error', drop);
      watched = identity;
    } catch (error) {
      // The system's watches are used up: the poll alone still sees everything, a second later.
      if (!['ENOSPC', 'EMFILE', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
    }
    return true;
  };

  if (!(await follow())) throw new SpoolError(`the spool ${paths.spool} is not a directory, so nothing can come by it`);
  let polling = false;
  const timer = setInterval(async () => {
    if (polling) return;
    polling = true;
    try {
      await follow();
      if (!closed && (await hasNews(paths)) && !closed) onNews();
    } catch {
      // Whoever collects meets the same trouble and tells it; the next poll looks again.
    } finally {
      polling = false;
    }
  }, POLL_MS);
  timer.unref();

  return {
    close() {
      closed = true;
      clearInterval(timer);
      drop();
    },
  };
}

/** The inode alone will not do: a directory made anew often gets the old one's number. */
async function identityOf(path: string): Promise<string | null> {
  const stat = await lstat(path, { bigint: true }).catch(() => null);
  return stat?.isDirectory() ? `${stat.ino}:${stat.birthtimeNs}` : null;
}
