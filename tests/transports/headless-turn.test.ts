// What can be seen of a turn: growing output, silence, the end.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/kernel/ports.ts';
import { isAlive } from '../../src/transports/process.ts';
import { eventually } from './eventually.ts';
import { agent } from './headless-rig.ts';
import { inject, json, look, rig, use } from './headless-suite.ts';

describe('the turn', () => {
  /** A clock that a test moves; sleepers wake when it is moved far enough. */
  const handClock = () => {
    let now = 1_000_000;
    const sleepers = new Set<() => void>();
    const clock: Clock = {
      now: () => now,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          const until = now + ms;
          const check = () => {
            if (now < until && !signal?.aborted) return;
            sleepers.delete(check);
            resolve();
          };
          sleepers.add(check);
          signal?.addEventListener('abort', check);
          check();
        }),
    };
    const move = (ms: number) => {
      now += ms;
      for (const check of sleepers) check();
    };
    return { clock, move };
  };
  const never = 2 ** 31 - 1;

  it('is working while output grows, hidden after the quiet window, working again', async () => {
    use([agent('ticker')]);
    const { clock, move } = handClock();
    const transport = rig.transportWith({ clock, quietMs: 5_000 });
    const see = () => transport.look(rig.place);
    const change = () => transport.change(rig.place, never, new AbortController().signal);
    await inject();
    for (let i = 0; i < 3; i++) {
      await change();
      move(4_000);
      expect((await see()).turn).toBe('working');
    }
    rig.tell('hush', '');
    await eventually(() => existsSync(join(rig.dir, 'agent', 'hushed')));
    await see();
    move(4_999);
    expect((await see()).turn).toBe('working');
    const quiet = change();
    move(1);
    await quiet;
    expect((await see()).turn).toBe('hidden');
    const grown = change();
    rmSync(join(rig.dir, 'agent', 'hush'));
    await grown;
    expect((await see()).turn).toBe('working');
  });

  it('becomes hidden sooner where the place asks for it', async () => {
    use();
    await inject();
    await eventually(() => rig.log('out').endsWith('\n'));
    const { clock, move } = handClock();
    const transport = rig.transportWith({ clock });
    await transport.look(rig.place);
    move(1_000);
    expect((await transport.look(rig.place)).turn).toBe('working');
    expect((await transport.look({ ...rig.place, quietMs: 1_000 })).turn).toBe('hidden');
  });

  it('is told to have ended even if it ended between the look and the wait', async () => {
    use();
    await inject();
    expect(await look()).toMatchObject({ alive: true });
    rig.tell('finish', '0');
    await eventually(() => !isAlive(json('started')));
    await rig.transport.change(rig.place, never, new AbortController().signal);
    expect(await look()).toMatchObject({ alive: false });
  });

  it('wakes who waits on a run that is not there yet', async () => {
    use();
    const waiting = rig.second.change(rig.place, never, new AbortController().signal);
    expect(await inject()).toBe('accepted');
    await waiting;
    expect(await rig.second.look(rig.place)).toMatchObject({ nonce: true });
  });
});
