// The session's own mark where the session is not a program that could keep it: files `<dir>/<target>/<number>`, shared by all
// drivers that are to exclude each other. A number exists if and only if its file does; numbers only grow and are never removed, so that
// "is mine still the newest" is one question: does the next one exist? A sleeper gets the right answer however late it asks.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createOnce, readJson } from './files.ts';
import type { Fence, Owner } from './transport.ts';

export interface Marks {
  take(target: string, owner: Owner, mayReplace: (holder: Owner) => Promise<boolean>): Promise<Fence | null>;
  drop(target: string, fence: Fence): void;
  /** Synchronous: asked right before an act, in the same breath. */
  isNewest(target: string, fence: Fence): boolean;
}

export function createMarks(dir: string): Marks {
  const folder = (target: string) => join(dir, folderName(target));
  const file = (target: string, mark: number) => join(folder(target), String(mark));
  const droppedFile = (target: string, mark: number) => `${file(target, mark)}.dropped`;

  return {
    async take(target, owner, mayReplace) {
      mkdirSync(folder(target), { recursive: true, mode: 0o700 });
      for (;;) {
        const mark = newest(folder(target));
        // Unreadable: only a power cut leaves such a mark, and no holder outlives that.
        const holder = readJson(file(target, mark)) as Owner | null;
        const isFree = mark === 0 || holder === null || existsSync(droppedFile(target, mark));
        if (!isFree && !(await mayReplace(holder))) return null;
        // Compare-and-set: somebody else's mark in between, and the next holder is to be asked about.
        if (createOnce(file(target, mark + 1), JSON.stringify(owner))) return { mark: mark + 1 };
      }
    },

    drop(target, { mark }) {
      if (existsSync(file(target, mark))) createOnce(droppedFile(target, mark), '');
    },

    isNewest: (target, { mark }) => existsSync(file(target, mark)) && !existsSync(file(target, mark + 1)),
  };
}

function newest(folder: string): number {
  const numbers = readdirSync(folder).filter((name) => /^\d+$/.test(name));
  return numbers.map(Number).reduce((highest, number) => Math.max(highest, number), 0);
}

/** A target is any text: as a file name it must not climb out of the directory (`..`), be nothing, nor be too long for it. */
function folderName(target: string): string {
  const name = encodeURIComponent(target).replaceAll('.', '%2E') || '%';
  return name.length <= 200 ? name : `${name.slice(0, 120)}-${createHash('sha256').update(target).digest('hex')}`;
}
