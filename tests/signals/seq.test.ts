import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nextSeq } from '../../src/signals/seq.ts';
import { tempDirectory } from './world.ts';

describe('sequence numbers', () => {
  it('begin at 1 and make their directory', async () => {
    const seq = join(await tempDirectory(), 'a', 'seq');
    expect([await nextSeq(seq), await nextSeq(seq), await nextSeq(seq)]).toEqual([1, 2, 3]);
  });

  it('are given once each, however many ask at once', async () => {
    const seq = await tempDirectory();
    const given = await Promise.all(Array.from({ length: 100 }, () => nextSeq(seq)));
    expect(given.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it('go on after the highest, whatever else lies there', async () => {
    const seq = await tempDirectory();
    for (const name of ['9', '10', 'x', '.tmp', '007', '99999999999999999999']) await writeFile(join(seq, name), '');
    await mkdir(join(seq, '11'));
    expect(await nextSeq(seq)).toBe(12);
  });

  it('begin anew when the agent has swept the directory away', async () => {
    const seq = await tempDirectory();
    await nextSeq(seq);
    await rm(seq, { recursive: true });
    expect(await nextSeq(seq)).toBe(1);
    expect(await readdir(seq)).toEqual(['1']);
  });

  it('fail with the system’s reason where none can be taken', async () => {
    const file = join(await tempDirectory(), 'file');
    await writeFile(file, '');
    await expect(nextSeq(file)).rejects.toMatchObject({ code: 'EEXIST' });
  });
});
