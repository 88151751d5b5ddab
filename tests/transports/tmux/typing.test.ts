// Delivery where something is unusual: agents without a record, screens that cannot be read, looks that are too old, many jobs in one
// pane, a session that somebody else holds.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Hand } from '../../../src/transports/transport.ts';
import { eventually } from '../eventually.ts';
import { createStepBook } from '../hand.ts';
import { createTmuxRig, owner, type TmuxRig } from './rig.ts';

let rig: TmuxRig;
afterEach(async () => expect(await rig.dispose()).toEqual([]));

const look = () => rig.transport.look(rig.place);
const newHand = async (): Promise<Hand> => createStepBook().hand({ driver: 'd', fence: await rig.fence() });

describe('an agent without a record', () => {
  const NO_RECORD = { env: { NO_RECORD: '1' } };

  it('is judged by its screen: accepted once it works and our text has left the composer', async () => {
    rig = await createTmuxRig(NO_RECORD);
    expect(await look()).toMatchObject({ hold: null, nonce: false });
    expect(await rig.transport.inject(rig.place, await newHand())).toBe('accepted');
    expect(await look()).toMatchObject({ turn: 'working', nonce: true, clean: false });
    // What was seen once is known to every later driver.
    expect(await rig.second.look(rig.place)).toMatchObject({ nonce: true });
    await rig.order('finish');
    expect(await look()).toMatchObject({ turn: 'settled', nonce: true, clean: true });
    expect(rig.prompts()).toHaveLength(1);
  });

  it('that never begins: unknown, typed once', async () => {
    rig = await createTmuxRig(NO_RECORD);
    await rig.order('eat-enter');
    await rig.order('eat-enter');
    expect(await rig.transport.inject(rig.place, await newHand())).toBe('unknown');
    expect(rig.prompts()).toEqual([]);
    expect(await look()).toMatchObject({ hold: 'draft', clean: false, nonce: false });
  });

  it('that a person submitted for us: accepted, without an Enter of ours', async () => {
    rig = await createTmuxRig(NO_RECORD);
    const hand = await newHand();
    const acts: string[] = [];
    const once: Hand['once'] = async (step) => {
      acts.push(step.name);
      const outcome = await hand.once(step);
      await eventually(async () => (await rig.screen()).includes('Please read'));
      await rig.tmux.run(['send-keys', '-t', rig.pane.id, 'Enter']);
      await eventually(() => rig.prompts().length === 1);
      return outcome;
    };
    expect(await rig.transport.inject(rig.place, { ...hand, once })).toBe('accepted');
    expect(acts).toEqual(['paste']);
    expect(rig.prompts()).toHaveLength(1);
  });
});

describe('what cannot be read counts as busy', () => {
  it('a screen that shows nothing known', async () => {
    rig = await createTmuxRig({ env: { NO_RECORD: '1' } });
    await rig.order('mumble');
    expect(await look()).toMatchObject({ hold: 'busy', turn: 'hidden', alive: true });
    await rig.order('mumble');
    expect(await look()).toMatchObject({ hold: null });
  });

  it('a record that is broken, and a reader that throws', async () => {
    rig = await createTmuxRig();
    writeFileSync(join(rig.dir, 'agent', 'record'), '{');
    expect(await look()).toMatchObject({ hold: 'busy', turn: 'hidden', alive: true });
    expect((await look()).detail).toMatch(/^no record: SyntaxError/);
    const broken = {
      ...rig.sight,
      read: () => {
        throw new Error('no idea');
      },
    };
    const transport = rig.transportWith({ sightOf: () => broken });
    await rig.order('empty');
    expect(await transport.look(rig.place)).toMatchObject({ hold: 'busy', turn: 'settled' });
  });

  it('a record that says working while the screen looks idle, and the other way round', async () => {
    rig = await createTmuxRig();
    const says = (state: 'working' | 'idle' | 'blocked') =>
      rig.transportWith({
        sightOf: () => ({
          ...rig.sight,
          record: async () => ({ state, source: 'native', because: `so says ${state}` }),
        }),
      });
    expect(await says('working').look(rig.place)).toMatchObject({
      hold: 'busy',
      turn: 'working',
      detail: 'so says working',
    });
    expect(await says('blocked').look(rig.place)).toMatchObject({ hold: 'dialog', turn: 'blocked' });
    await rig.order('dialog');
    expect(await says('idle').look(rig.place)).toMatchObject({ hold: 'dialog', turn: 'blocked' });
  });
});

describe('a key', () => {
  it('is not sent on a look that is too old', async () => {
    rig = await createTmuxRig({ times: { freshMs: -1 } });
    const hand = await newHand();
    const stop = new AbortController();
    const once: Hand['once'] = (step) => {
      const act = async () => {
        const acting = step.act();
        stop.abort();
        await acting;
      };
      return hand.once({ ...step, act });
    };
    expect(await rig.transport.inject(rig.place, { ...hand, signal: stop.signal, once })).toBe('rejected');
    expect(rig.input()).toHaveLength(0);
    expect(await rig.buffers()).toBe('');
  });

  it('is not sent when a dialog covers our text after the last look', async () => {
    rig = await createTmuxRig();
    const hand = await newHand();
    const holds: string[] = [];
    let isOpened = false;
    const once: Hand['once'] = (step) => {
      const act = async () => {
        await rig.order('dialog');
        await eventually(async () => (await rig.screen()).includes('dangerous'));
        isOpened = true;
        await step.act();
      };
      return hand.once(step.name === 'enter' ? { ...step, act } : step);
    };
    const injecting = rig.transport.inject(rig.place, { ...hand, once, hold: async (hold) => void holds.push(hold) });
    await eventually(() => isOpened && holds.includes('dialog'));
    expect(rig.told('approved')).toEqual([]);
    await rig.order('close-dialog');
    expect(await injecting).toBe('accepted');
    expect(rig.told('approved')).toEqual([]);
    expect(rig.prompts()).toHaveLength(1);
  });

  it('waits for an agent that is slow to draw', async () => {
    rig = await createTmuxRig();
    await rig.order('slow 700');
    expect(await rig.transport.inject(rig.place, await newHand())).toBe('accepted');
    expect(rig.prompts()).toHaveLength(1);
  });
});

describe('one pane, many jobs', () => {
  it('twenty in a row: each prompt once, and exactly', async () => {
    rig = await createTmuxRig();
    const expected: string[] = [];
    for (let attempt = 1; attempt <= 20; attempt++) {
      const place = { ...rig.place, attempt, runDir: join(rig.dir, `run-${attempt}`) };
      const transport = attempt % 2 ? rig.transport : rig.second;
      const fence = await transport.takeMark(place, owner(attempt), async () => true);
      expect(await transport.inject(place, createStepBook().hand({ driver: 'd', fence: fence! }))).toBe('accepted');
      expected.push(`Please read the file ${place.brief} and do what it says. [stepward j1/${attempt}]`);
      expect(rig.prompts()).toEqual(expected);
      await rig.order('finish');
      await eventually(async () => (await transport.look(place)).clean);
      await transport.dropMark(place, fence!);
    }
  });

  it('two at once, of two registries: the second gets no mark, and its key no way in', async () => {
    rig = await createTmuxRig();
    const places = [1, 2].map((attempt) => ({ ...rig.place, attempt, runDir: join(rig.dir, `run-${attempt}`) }));
    const asked: unknown[] = [];
    const refuse = async (holder: unknown) => {
      asked.push(holder);
      return false;
    };
    const [first, second] = await Promise.all(
      places.map((place, i) =>
        (i ? rig.second : rig.transport).takeMark(place, { ...owner(1), registry: `r${i}` }, refuse),
      ),
    );
    expect([first, second].filter((fence) => fence !== null)).toHaveLength(1);
    expect(asked).toHaveLength(1);
    const stranger = createStepBook().hand({ driver: 's', fence: { mark: (first ?? second)!.mark + 1 } });
    expect(await rig.second.inject(places[1]!, stranger)).toBe('rejected');
    expect(rig.input()).toHaveLength(0);
  });
});

it('a pane whose mark was written by somebody else is refused, and left as it is', async () => {
  rig = await createTmuxRig();
  await rig.tmux.run(['set-option', '-p', '-t', rig.pane.id, '@stepward', 'hello, #{world}']);
  const fence = await rig.fence();
  expect(fence).toEqual({ mark: 0 });
  await expect(rig.transport.preflight(rig.place)).rejects.toThrow(
    /holds "hello, #\{world\}", which no Stepward wrote/,
  );
  expect(await rig.transport.inject(rig.place, createStepBook().hand({ driver: 'd', fence }))).toBe('rejected');
  expect(rig.input()).toHaveLength(0);
});

it('a paste that a driver began who may still live: unknown, however empty the composer stays', async () => {
  rig = await createTmuxRig();
  const hand = await newHand();
  const sleeper: Hand['inspect'] = async (step) =>
    step === 'paste' ? { state: 'open', gone: true, dead: false } : hand.inspect(step);
  expect(await rig.transport.inject(rig.place, { ...hand, inspect: sleeper })).toBe('unknown');
  expect(rig.input()).toHaveLength(0);
});
