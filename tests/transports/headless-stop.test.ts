// Who may stop a run, what is stopped with it, and whom it never touches.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostIdentity } from '../../src/transports/host.ts';
import { identify, isAlive } from '../../src/transports/process.ts';
import { eventually } from './eventually.ts';
import { createStepBook } from './hand.ts';
import { agent } from './headless-rig.ts';
import { bystander, ended, fileOf, inject, look, pidOf, rig, use } from './headless-suite.ts';
import { processesOf } from './leaks.ts';

describe('a driver that may not act any more', () => {
  it('withholds the start, so that it is known that nothing was started', async () => {
    use();
    const old = await rig.newest();
    await rig.newest();
    const book = createStepBook();
    expect(await rig.transport.inject(rig.place, book.hand({ driver: 'd1', fence: old }))).toBe('rejected');
    expect(book.steps.get('spawn')?.result).toBe('withheld');
  });

  it('stops waiting when aborted, and leaves the run to its successor', async () => {
    use();
    const hanging = join(rig.dir, 'hanging.mjs');
    writeFileSync(hanging, 'setInterval(() => {}, 1_000);');
    const book = createStepBook();
    const abort = new AbortController();
    const first = book.hand({ driver: 'd1', fence: await rig.newest(), signal: abort.signal });
    const waiting = rig.transportWith({ launcher: hanging }).inject(rig.place, first);
    const [launcher] = await eventually(() => {
      const found = processesOf(rig.dir);
      return found.length > 0 && found;
    });
    abort.abort();
    expect(await waiting).toBe('unknown');
    process.kill(launcher!.pid, 'SIGKILL');
    expect(await rig.second.inject(rig.place, book.hand({ driver: 'd2', fence: await rig.newest() }))).toBe('accepted');
    await eventually(() => rig.starts().length === 1);
  });
});

describe('stopping', () => {
  it('kills an agent that ignores SIGTERM', async () => {
    use([agent('deaf')]);
    await inject();
    await eventually(() => rig.told('stdin') !== '');
    await rig.transport.interrupt(rig.place, await rig.newest());
    await rig.transportWith({ termMs: 200 }).reap(rig.place, await rig.newest());
    expect(await look()).toMatchObject({ alive: false, clean: true, detail: 'killed by SIGKILL' });
    expect(processesOf(rig.dir)).toEqual([]);
  });

  for (const [how, stop] of [
    ['that ended by itself', async () => rig.tell('finish', '0')],
    ['that runs', async () => {}],
    ['whose launcher was killed', async () => void process.kill(pidOf('started'), 'SIGKILL')],
  ] as const) {
    it(`ends the children of an agent ${how}, those in a session of their own too`, async () => {
      use([agent('parent')]);
      await inject();
      await eventually(() => rig.told('stdin') !== '');
      await stop();
      if (how === 'that ended by itself')
        expect(await ended()).toMatchObject({ clean: false, detail: 'exited with code 0' });
      const children = rig
        .told('children')
        .trim()
        .split('\n')
        .map((pid) => identify(Number(pid))!);
      expect(children.map(isAlive)).toEqual([true, true]);
      await rig.transport.reap(rig.place, await rig.newest());
      expect(children.map(isAlive)).toEqual([false, false]);
      expect(processesOf(rig.dir)).toEqual([]);
      expect(await look()).toMatchObject({ alive: false, clean: true });
    });
  }

  it('kills nobody whose pid was the agent’s once', async () => {
    use();
    await inject();
    await eventually(() => rig.starts().length === 1);
    await rig.transport.reap(rig.place, await rig.newest());
    const real = bystander();
    rmSync(fileOf('exit.json'));
    for (const other of [
      { ...real, started: `${real.started}1` },
      { ...real, host: hostIdentity().replace(/:[^:]*:/, ':an-older-boot:') },
    ]) {
      for (const name of ['child.json', 'started']) writeFileSync(fileOf(name), JSON.stringify(other));
      expect(await look()).toMatchObject({ alive: false, clean: true });
      await rig.transport.interrupt(rig.place, await rig.newest());
      await rig.transport.reap(rig.place, await rig.newest());
      expect(isAlive(real)).toBe(true);
    }
    // The same rig does kill the process if it is the recorded one.
    writeFileSync(fileOf('child.json'), JSON.stringify(real));
    await rig.transport.reap(rig.place, await rig.newest());
    expect(isAlive(real)).toBe(false);
  });

  it('signals nobody when the record is damaged', async () => {
    use();
    mkdirSync(rig.place.runDir);
    writeFileSync(fileOf('started'), JSON.stringify(bystander()));
    for (const child of ['', '{', '{"pid":1}', '{"pid":-1,"started":"1","host":"x"}', 'null']) {
      writeFileSync(fileOf('child.json'), child);
      expect(await look()).toMatchObject({ alive: true, nonce: false });
      await rig.transport.interrupt(rig.place, await rig.newest());
    }
    rmSync(fileOf('started'));
  });

  it('claims nothing and starts nothing when the mark itself is damaged', async () => {
    use();
    mkdirSync(rig.place.runDir);
    for (const mark of ['', '5', '{"pid":0}']) {
      writeFileSync(fileOf('started'), mark);
      expect(await inject()).toBe('unknown');
      expect(await look()).toMatchObject({ alive: false, nonce: false });
      await rig.transport.reap(rig.place, await rig.newest());
    }
    expect(rig.starts()).toEqual([]);
  });
});
