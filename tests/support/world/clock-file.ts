// Simulated time that crosses processes: a file that holds it. Every process under test reads the same file; only a test moves it.
import { readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../src/kernel/ports.ts';

/** Real time between two looks at the file, behind the change hint. */
const LOOK_MS = 20;

export function fileClock(file: string): Clock {
  const now = () => Number(readFileSync(file, 'utf8'));
  return {
    now,
    async sleep(ms, signal) {
      const until = now() + ms;
      while (now() < until && !signal?.aborted) await moved(file, signal);
    },
  };
}

/** Atomic: a reader sees the old time or the new one. */
export function setTime(file: string, ms: number): void {
  writeFileSync(`${file}.tmp`, String(ms));
  renameSync(`${file}.tmp`, file);
}

function moved(file: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      watcher.close();
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const watcher = watch(dirname(file), (_, name) => {
      if (name === basename(file)) done();
    });
    const timer = setTimeout(done, LOOK_MS);
    signal?.addEventListener('abort', done, { once: true });
  });
}
