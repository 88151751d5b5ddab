// Somebody tidies up in the registry's folder while the embedded broker runs.
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { receiptsTopic } from '../../../src/signals/bus/topics.ts';
import { driven, JOB, undriven, until } from '../world.ts';
import { hearing, openBus, PREFIX, sign, up, voice } from './support.ts';

describe('the holder of the embedded broker', () => {
  it.each<[string, (file: string) => Promise<unknown>]>([
    ['removed', (file) => rm(file)],
    ['emptied', (file) => writeFile(file, '')],
    [
      'replaced by another one',
      async (file) => writeFile(file, (await readFile(file, 'utf8')).replace(/"port": \d+/, '"port": 1')),
    ],
    ['made unreadable', (file) => chmod(file, 0)],
  ])('finds its book %s and writes it again: who comes finds it', async (_, spoil) => {
    const world = await undriven();
    await up(openBus(world));
    const file = join(world.registryDir, 'bus.json');
    const before = await until(() => readBook(world.registryDir));
    await spoil(file);
    const joiner = openBus(world);
    await hearing(joiner);
    expect(await readBook(world.registryDir)).toEqual(before);
  });

  it('goes on trying while it cannot write it', async () => {
    const world = await undriven();
    await up(openBus(world));
    const file = join(world.registryDir, 'bus.json');
    await rm(file);
    await mkdir(file);
    await writeFile(join(file, 'in-the-way'), '');
    const joiner = openBus(world);
    await until(() => joiner.warnings.some((sentence) => sentence.includes('has not said yet where it is')));
    await rm(file, { recursive: true });
    await hearing(joiner);
  });

  it.each([
    ['the lock', ['bus.lock']],
    ['the lock and the book', ['bus.lock', 'bus.json']],
  ])('whose %s is removed gives way to whoever takes it: all meet at one broker', async (_, names) => {
    const world = await driven();
    const first = openBus(world);
    await hearing(first);
    for (const name of names) await rm(join(world.registryDir, name));
    const second = openBus(world);
    await hearing(second);
    await until(async () => {
      const book = await readBook(world.registryDir);
      const url = book && addressIn(book, 'agent').url;
      return [first, second].every((bus) => bus.agentAddress()?.url === url && bus.hears(JOB));
    });
    const agent = await voice(second.agentAddress()!, receiptsTopic(PREFIX, JOB, 1));
    const envelope = await sign(world);
    await agent.say(envelope);
    // One receipt of each driver: both heard it.
    await until(() => agent.receipts(envelope).length === 2);
  });

  it('makes nothing anew where the whole registry is gone', async () => {
    const world = await undriven();
    const bus = openBus(world);
    await up(bus);
    await world.registry.close();
    await rm(world.registryDir, { recursive: true });
    // Another holder's second look: ours has looked as well by then.
    const other = await undriven();
    await up(openBus(other));
    for (let n = 0; n < 2; n++) {
      await rm(join(other.registryDir, 'bus.json'));
      await until(() => readBook(other.registryDir));
    }
    await expect(readFile(join(world.registryDir, 'bus.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(bus.status().up).toBe(true);
  });
});
