// What is pasted arrives byte by byte, from whatever text, and in one pane only; and no key goes where its aim no longer holds.
import { afterEach, describe, expect, it } from 'vitest';
import { createTmux } from '../../../src/transports/tmux/client.ts';
import { type Aim, paste, press } from '../../../src/transports/tmux/keys.ts';
import { dropMark, takeMark } from '../../../src/transports/tmux/mark.ts';
import { identityOf, viewPane } from '../../../src/transports/tmux/pane.ts';
import { nonceOf } from '../../../src/transports/tmux/prompt.ts';
import { createTmuxTransport } from '../../../src/transports/tmux/tmux.ts';
import { eventually } from '../eventually.ts';
import { createStepBook } from '../hand.ts';
import { createTmuxRig, owner, type TmuxRig } from './rig.ts';

const rigs: TmuxRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) expect(await rig.dispose()).toEqual([]);
});
const use = async (...wish: Parameters<typeof createTmuxRig>): Promise<TmuxRig> => {
  const rig = await createTmuxRig(...wish);
  rigs.push(rig);
  return rig;
};
const FLAGS = ['-p', '-r'];
const bracketed = (text: string): string => `\x1b[200~${text}\x1b[201~`;
const aimAt = async (rig: TmuxRig): Promise<Aim> => ({ pane: rig.pane, fence: await rig.fence() });
const arrives = (rig: TmuxRig, text: string) => eventually(() => rig.input().toString() === text);

describe('a paste', () => {
  const texts: [name: string, text: string, arrived?: string][] = [
    ['16,350 bytes', 'a'.repeat(16_350)],
    ['200 kB', 'words and more words. '.repeat(9_300)],
    ['a trailing ;', 'do it;'],
    ['a trailing \\;', 'do it\\;'],
    ['a leading -', '-t %0 --help'],
    ['a leading =', '=name'],
    ['formats', '#{pane_id} #(touch x) %H:%M $HOME `id` "\'\\'],
    ['the end of a paste inside', 'a\x1b[201~\rrm -rf', 'a[201~rm -rf'],
    ['control bytes', 'a\x00\x03\x04\x07\x1a\x7f\u0085\u009bz', 'az'],
    ['CJK, emoji, combining marks, right-to-left', '漢字かな 👩‍👩‍👧‍👦🏳️‍🌈 e\u0301 नमस्ते שלום مرحبا'],
    ['lines and tabs', 'one\n\ttwo\n'],
  ];
  for (const [name, text, arrived = text] of texts) {
    it(`brings ${name}`, async () => {
      const rig = await use();
      expect(await paste(rig.tmux, FLAGS, await aimAt(rig), text)).toBe(true);
      await arrives(rig, bracketed(arrived));
      expect(await rig.buffers()).toBe('');
    });
  }

  it('goes to its own pane when four paste at once', async () => {
    const rig = await use();
    const four = await Promise.all([use(), use(), use(), use()]);
    await Promise.all(
      four.map(async (each, i) => paste(each.tmux, FLAGS, await aimAt(each), `for the ${i}th`.repeat(500))),
    );
    for (const [i, each] of four.entries()) await arrives(each, bracketed(`for the ${i}th`.repeat(500)));
    // And four panes of one server.
    const panes = await Promise.all([0, 1, 2, 3].map(() => rig.open()));
    await eventually(() => rig.told('starts').length === 5);
    await eventually(async () => {
      const screens = panes.map(({ id }) => rig.tmux.run(['capture-pane', '-p', '-t', id]));
      return (await Promise.all(screens)).every((screen) => screen.includes('= ready ='));
    });
    const words = ['north', 'east', 'south', 'west'];
    const aims = await Promise.all(
      panes.map(async (pane) => ({
        pane,
        fence: (await takeMark(rig.tmux, pane.id, owner(1), async () => true))!,
      })),
    );
    await Promise.all(aims.map((aim, i) => paste(rig.tmux, FLAGS, aim, `to the ${words[i]}`)));
    for (const [i, { id }] of panes.entries()) {
      await eventually(async () =>
        (await rig.tmux.run(['capture-pane', '-p', '-t', id])).includes(`> to the ${words[i]}\n`),
      );
    }
    expect(await rig.buffers()).toBe('');
  });
});

describe('an aim that no longer holds: nothing is sent, and no text is left on the server', () => {
  const refused = async (rig: TmuxRig, aim: Aim) => {
    expect(await paste(rig.tmux, FLAGS, aim, 'text')).toBe(false);
    expect(await press(rig.tmux, aim, [{ key: 'x' }])).toBe(false);
    expect(await rig.buffers()).toBe('');
    // The next key is the first that arrives.
    expect(await press(rig.tmux, await aimAt(rig), [{ key: 'k' }])).toBe(true);
    await arrives(rig, 'k');
  };

  it('an older mark', async () => {
    const rig = await use();
    const old = await aimAt(rig);
    await rig.fence();
    await refused(rig, old);
  });

  it('a mark that was dropped', async () => {
    const rig = await use();
    const aim = await aimAt(rig);
    await dropMark(rig.tmux, rig.pane.id, aim.fence);
    await refused(rig, aim);
  });

  it('a number that only begins like the mark', async () => {
    const rig = await use();
    for (let i = 1; i < 12; i++) await rig.fence();
    await refused(rig, { pane: rig.pane, fence: { mark: 1 } });
  });

  it('another process in the pane', async () => {
    const rig = await use();
    const aim = await aimAt(rig);
    await refused(rig, { ...aim, pane: { ...aim.pane, pid: aim.pane.pid + 1 } });
  });

  it('a word that is not on the screen', async () => {
    const rig = await use();
    await refused(rig, { ...(await aimAt(rig)), shows: 'j1/2' });
  });

  it('a word that is on the screen lets it through', async () => {
    const rig = await use();
    await rig.order('draft see j1/2 here');
    await eventually(async () => (await rig.screen()).includes('j1/2'));
    expect(
      await press(rig.tmux, { ...(await aimAt(rig)), shows: nonceOf({ ...rig.place, attempt: 2 }) }, [{ key: 'k' }]),
    ).toBe(true);
    await arrives(rig, 'k');
  });

  it('a dead pane, and one that is gone', async () => {
    const rig = await use();
    const aim = await aimAt(rig);
    await rig.order('crash 1');
    await eventually(async () => /is over/.test((await rig.transport.look(rig.place)).detail ?? ''));
    expect(await press(rig.tmux, aim, [{ key: 'x' }])).toBe(false);
    expect(await paste(rig.tmux, FLAGS, { ...aim, pane: { ...aim.pane, id: '%999' } }, 'text')).toBe(false);
    expect(await rig.buffers()).toBe('');
  });

  it('a key of no such name is a mistake, not a text', async () => {
    const rig = await use();
    await expect(async () => press(rig.tmux, await aimAt(rig), [{ key: 'x ; kill-server' }])).rejects.toThrow(
      TypeError,
    );
  });
});

describe('the prompt of a profile', () => {
  for (const [name, text] of [
    ['200 kB', 'word '.repeat(40_000).trim()],
    ['all letters', '漢字 👩‍👩‍👧‍👦 e\u0301 שלום;'],
  ] as const) {
    it(`${name}: delivered once, exactly`, async () => {
      // No screen shows so long a text: it is folded, and this profile knows its own by the length.
      const rig = await use({
        sight: (sight) => ({
          ...sight,
          encode: () => ({ text, expected: text }),
          read: (screen) => {
            const reading = sight.read(screen);
            const isFolded = reading.composer === `[Pasted ${text.length} letters]`;
            return isFolded ? { ...reading, composer: text } : reading;
          },
        }),
      });
      const hand = createStepBook().hand({ driver: 'd', fence: await rig.fence() });
      expect(await rig.transport.inject(rig.place, hand)).toBe('accepted');
      expect(rig.prompts()).toEqual([text]);
    });
  }
});

describe('two servers', () => {
  it('have panes of the same id, marks and agents of their own', async () => {
    const [one, two] = [await use(), await use()];
    expect(one.pane.id).toBe(two.pane.id);
    const fence = await one.fence();
    await two.fence();
    await two.fence();
    const hand = createStepBook().hand({ driver: 'd', fence });
    expect(await one.transport.inject(one.place, hand)).toBe('accepted');
    expect(one.prompts()).toHaveLength(1);
    expect(two.prompts()).toHaveLength(0);
    // The pane that was typed into, looked for on the other server: not there.
    const seen = await two.transport.look({ ...two.place, runDir: one.place.runDir });
    expect(seen).toMatchObject({ alive: false });
    expect(seen.detail).toMatch(/was started anew/);
  });

  it('are told apart by name as well', async () => {
    const rig = await use();
    const name = `stepward-test-${process.pid}-${rig.dir.slice(-6)}`;
    const env = { ...rig.options.env, TMUX_TMPDIR: rig.dir };
    const named = createTmux({ server: { name }, env });
    await named.run(['new-session', '-d', '-s', 'x', 'sh', '-c', 'sleep 1000']);
    try {
      const view = await viewPane(named, '%0');
      expect('gone' in view ? view : identityOf(view)?.pid).not.toBe(rig.pane.pid);
      const transport = createTmuxTransport({ ...rig.options, server: { name }, env });
      expect((await transport.look({ ...rig.place, target: '%0' })).detail).toMatch(/shows sh \(pid/);
    } finally {
      await named.run(['kill-server']);
    }
  });
});
