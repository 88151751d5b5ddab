// Sequence numbers of one attempt. They order and show gaps; they never refuse (docs/design.md section 5).
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './files.ts';

/**
 * Takes the next number by making its file with O_EXCL: two emits at once cannot get the same one, and no lock can go stale.
 * The files stay: if a low one were removed, a slow process that had listed the directory before could take its number again.
 */
export async function nextSeq(directory: string): Promise<number> {
  await mkdir(directory, { recursive: true });
  const taken = (await readdir(directory)).filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number);
  for (let seq = taken.reduce((a, b) => Math.max(a, b), 0) + 1; ; seq++) {
    try {
      await (await open(join(directory, String(seq)), 'wx')).close();
      return seq;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}
