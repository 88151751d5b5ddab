// What may be wrong with a pane: nothing is typed, and the sentence says what was seen.
import { spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { identify, isAlive, signalTo } from '../../../src/transports/process.ts';
import { type Place, PlaceError } from '../../../src/transports/transport.ts';
import { eventually } from '../eventually.ts';
import { createStepBook } from '../hand.ts';
import { createTmuxRig, type TmuxRig } from './rig.ts';

let rig: TmuxRig;
afterEach(async () => expect(await rig.dispose()).toEqual([]));

const look = () => rig.transport.look(rig.place);
const freeSoon = (place: Place) =>
  eventually(async () => {
    const seen = await rig.transport.look(place);
    return seen.alive && seen.hold === null;
  });
const handOf = async (fence = rig.fence()) => createStepBook().hand({ driver: 'd', fence: await fence });
const inject = async () => rig.transport.inject(rig.place, await handOf());
const refusal = async (place = rig.place): Promise<string> => {
  const error = await rig.transport.preflight(place).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlaceError);
  return (error as PlaceError).message;
};
/** Another program in a pane of its own. */
const paneOf = async (...argv: string[]) =>
  (await rig.tmux.run(['new-window', '-d', '-P', '-F', '#{pane_id}', ...argv])).trim();

describe('not the agent', () => {
  it('a bare shell, and another program: refused, nothing typed', async () => {
    rig = await createTmuxRig();
    for (const [name, argv] of [
      ['sh', ['sh', '-c', 'read line; echo "got $line"; sleep 100']],
      ['cat', ['cat', '-']],
    ] as const) {
      const target = await paneOf(...argv);
      const place = { ...rig.place, target };
      expect(await refusal(place)).toMatch(
        new RegExp(`^pane ${target} shows ${name} \\(pid \\d+\\), not tui; start tui`),
      );
      expect(await rig.transport.look(place)).toMatchObject({ alive: false, hold: null, clean: true });
      const fence = await rig.transport.takeMark(
        place,
        { registry: 'r', job: 'j1', attempt: 1, epoch: 1, pid: 1, started: 'x' },
        async () => true,
      );
      const book = createStepBook();
      expect(await rig.transport.inject(place, book.hand({ driver: 'd', fence: fence! }))).toBe('unknown');
      expect(book.steps.size).toBe(0);
      expect((await rig.tmux.run(['capture-pane', '-p', '-t', target])).trim()).toBe('');
    }
  });

  it('an agent that was stopped: the shell before it gets nothing', async () => {
    rig = await createTmuxRig();
    // An interactive shell has job control: its children get the terminal, and it gets the terminal back when they stop.
    const target = await paneOf('bash', '--norc', '-i');
    const command = `"${process.execPath}" "${new URL('./tui.mjs', import.meta.url).pathname}" "${rig.dir}/agent"`;
    await rig.tmux.run(['send-keys', '-t', target, '-l', '--', command]);
    await rig.tmux.run(['send-keys', '-t', target, 'Enter']);
    const place = { ...rig.place, target };
    await freeSoon(place);
    const agent = identify(Number(rig.told('starts').at(-1)))!;
    expect(signalTo(agent, 'SIGSTOP')).toBe(true);
    const stopped = await eventually(async () => {
      const seen = await rig.transport.look(place);
      return /^bash \(pid \d+\) is in front of tui in pane %\d+$/.test(seen.detail ?? '') && seen;
    });
    expect(stopped).toMatchObject({ alive: true, hold: 'busy', turn: 'hidden' });
    expect(await refusal(place)).toMatch(/is in front of tui/);
    signalTo(agent, 'SIGKILL');
    await eventually(async () => /shows bash/.test((await rig.transport.look(place)).detail ?? ''));
  });

  it('no pane of that id, and no server: said, and nothing hangs', async () => {
    rig = await createTmuxRig();
    const gone = { ...rig.place, target: '%999' };
    const fence = await rig.transport.takeMark(
      gone,
      { registry: 'r', job: 'j1', attempt: 1, epoch: 1, pid: 1, started: 'x' },
      async () => false,
    );
    expect(fence).toEqual({ mark: 0 });
    const nowhere = rig.transportWith({ server: { path: `${rig.dir}/none` } });
    for (const transport of [rig.transport, nowhere]) {
      const seen = await transport.look(gone);
      expect(seen).toMatchObject({ alive: false, clean: true, nonce: false, turn: 'hidden' });
      expect(seen.detail).toMatch(/there is no pane %999|no tmux server answers/);
      await transport.interrupt(gone, fence!);
      await transport.clearOwnText(gone, fence!);
      await transport.reap(gone, fence!);
      await transport.dropMark(gone, fence!);
      expect(await transport.inject(gone, await handOf(Promise.resolve(fence!)))).toBe('unknown');
    }
  });
});

describe('copy-mode', () => {
  it('is held, with its reason, and delivered when it is over', async () => {
    rig = await createTmuxRig();
    await rig.tmux.run(['copy-mode', '-t', rig.pane.id]);
    const seen = await look();
    expect(seen).toMatchObject({ hold: 'busy', alive: true, turn: 'settled', clean: true });
    expect(seen.detail).toMatch(/copy-mode: somebody scrolls in pane %\d+/);
    const injecting = inject();
    const held = rig.input().length;
    await eventually(async () => /copy-mode/.test((await look()).detail ?? ''));
    expect(rig.input().length).toBe(held);
    await rig.tmux.run(['send-keys', '-X', '-t', rig.pane.id, 'cancel']);
    expect(await injecting).toBe('accepted');
    expect(rig.prompts()).toHaveLength(1);
  });

  it('between paste and Enter: Enter is withheld until it is over', async () => {
    rig = await createTmuxRig();
    const hand = await handOf();
    const holds: string[] = [];
    const injecting = rig.transport.inject(rig.place, {
      ...hand,
      hold: async (hold) => void holds.push(hold),
      once: async (step) => {
        const outcome = await hand.once(step);
        if (step.name === 'paste') await rig.tmux.run(['copy-mode', '-t', rig.pane.id]);
        return outcome;
      },
    });
    await eventually(() => holds.includes('busy'));
    expect(rig.prompts()).toEqual([]);
    expect(await rig.tmux.run(['display-message', '-p', '-t', rig.pane.id, '#{pane_in_mode}'])).toBe('1\n');
    await rig.tmux.run(['send-keys', '-X', '-t', rig.pane.id, 'cancel']);
    expect(await injecting).toBe('accepted');
    expect(rig.prompts()).toHaveLength(1);
  });

  it('that begins at the very moment of a key: the key is refused, not eaten', async () => {
    rig = await createTmuxRig();
    const hand = await handOf();
    // Whatever was seen before, tmux checks it in the same action.
    const outcome = await rig.transport.inject(rig.place, {
      ...hand,
      once: async (step) => {
        const act = async () => {
          await rig.tmux.run(['copy-mode', '-t', rig.pane.id]);
          await step.act();
        };
        return hand.once(step.name === 'paste' ? { ...step, act } : step);
      },
    });
    expect(outcome).toBe('rejected');
    expect(rig.input()).toHaveLength(0);
    expect(await rig.buffers()).toBe('');
  });
});

describe('the agent ends', () => {
  it('in a dead pane, which still tells how', async () => {
    rig = await createTmuxRig();
    await rig.order('crash 7');
    await eventually(async () => !(await look()).alive);
    // tmux 3.3 now and then loses the status of a program that ends.
    expect((await look()).detail).toMatch(/^the program in pane %\d+ is over: (ended|exited with code 7)$/);
    expect(await refusal()).toMatch(/is over: (ended|exited with code 7); start tui there, or name another pane$/);
    expect(await inject()).toBe('unknown');
  });

  it('killed in mid-turn: over, and what it had received stays known', async () => {
    rig = await createTmuxRig();
    expect(await inject()).toBe('accepted');
    expect(signalTo(identify(rig.pane.pid)!, 'SIGKILL')).toBe(true);
    await eventually(async () => !(await look()).alive);
    expect(await look()).toMatchObject({ nonce: true, clean: true, turn: 'hidden' });
    // tmux 3.3 does not tell of signals.
    expect((await look()).detail).toMatch(/^the program in pane %\d+ is over: (ended|killed by signal \S+)$/);
  });

  it('with its pane, killed in mid-turn', async () => {
    rig = await createTmuxRig();
    await paneOf('sleep', '1000');
    expect(await inject()).toBe('accepted');
    await rig.tmux.run(['kill-pane', '-t', rig.pane.id]);
    await eventually(async () => !(await look()).alive);
    expect(await look()).toMatchObject({ nonce: true, clean: true, detail: `there is no pane ${rig.pane.id}` });
  });

  it('and another one is started under the same pane: it is not ours', async () => {
    rig = await createTmuxRig();
    const fence = await rig.fence();
    const book = createStepBook();
    expect(await rig.transport.inject(rig.place, book.hand({ driver: 'd', fence }))).toBe('accepted');
    const argv = [process.execPath, new URL('./tui.mjs', import.meta.url).pathname, `${rig.dir}/agent`];
    await rig.tmux.run(['respawn-pane', '-k', '-t', rig.pane.id, ...argv]);
    await eventually(() => rig.told('starts').length === 2);
    const seen = await look();
    expect(seen).toMatchObject({ alive: false, clean: true, nonce: true });
    expect(seen.detail).toMatch(/started anew/);
    const starts = rig.told('starts');
    await rig.transport.interrupt(rig.place, fence);
    await rig.transport.clearOwnText(rig.place, fence);
    expect(await rig.transport.inject(rig.place, book.hand({ driver: 'd', fence }))).toBe('accepted');
    expect(rig.prompts()).toHaveLength(1);
    expect(rig.told('starts')).toEqual(starts);
    // The mark outlives the agent: it belongs to the pane.
    expect((await rig.fence()).mark).toBeGreaterThan(fence.mark);
    // To another attempt it is an agent like any other.
    const next = { ...rig.place, attempt: 2, runDir: `${rig.dir}/run2` };
    await freeSoon(next);
  });

  it('under a shell that starts another one: found by pid and start, not by the pane', async () => {
    rig = await createTmuxRig();
    const tui = new URL('./tui.mjs', import.meta.url).pathname;
    const target = await paneOf('sh', '-c', `while :; do "${process.execPath}" "${tui}" "${rig.dir}/agent"; done`);
    const place = { ...rig.place, target, runDir: `${rig.dir}/run2` };
    await freeSoon(place);
    const fence = await rig.transport.takeMark(
      place,
      { registry: 'r', job: 'j1', attempt: 1, epoch: 1, pid: 1, started: 'x' },
      async () => true,
    );
    expect(await rig.transport.inject(place, createStepBook().hand({ driver: 'd', fence: fence! }))).toBe('accepted');
    const first = identify(Number(rig.told('starts').at(-1)))!;
    signalTo(first, 'SIGKILL');
    await eventually(() => !isAlive(first) && rig.told('starts').length === 3);
    await eventually(async () => /tui was started anew in pane/.test((await rig.transport.look(place)).detail ?? ''));
    expect((await rig.transport.look(place)).alive).toBe(false);
  });
});

describe('change', () => {
  it('wakes when the agent draws, when somebody scrolls, and when the pane goes', async () => {
    rig = await createTmuxRig();
    await paneOf('sleep', '1000');
    const never = 2 ** 31 - 1;
    const news = async (happen: () => Promise<unknown>) => {
      await look();
      const waiting = rig.transport.change(rig.place, never, new AbortController().signal);
      await happen();
      await waiting;
    };
    await news(() => rig.order('draft x'));
    await news(() => rig.tmux.run(['copy-mode', '-t', rig.pane.id]));
    await news(() => rig.tmux.run(['kill-pane', '-t', rig.pane.id]));
    expect((await look()).alive).toBe(false);
  });

  it('waits for a pane that does nothing', async () => {
    rig = await createTmuxRig();
    let woken = false;
    // News within the second of a look counts as news: one that is a second younger than the last letter has none.
    await eventually(async () => {
      const before = performance.now();
      await look();
      await rig.transport.change(rig.place, 1_500, new AbortController().signal);
      return performance.now() - before >= 1_500;
    });
    const stop = new AbortController();
    const waiting = rig.transport.change(rig.place, 2 ** 31 - 1, stop.signal).then(() => {
      woken = true;
    });
    const other = spawn('sleep', ['1']);
    await new Promise((resolve) => other.once('exit', resolve));
    expect(woken).toBe(false);
    stop.abort();
    await waiting;
  });
});
