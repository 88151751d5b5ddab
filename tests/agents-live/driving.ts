// What every live test does with its agent.
import { expect } from 'vitest';
import { SIGHTS } from '../../src/agents/live/sights.ts';
import type { AgentRecord, ScreenState } from '../../src/transports/sight.ts';
import { agentOf, type Live, until } from './rig.ts';

/** What the record may say while the screen shows this; null: it may say nothing yet. */
const RECORDS: Partial<Record<ScreenState, (AgentRecord['state'] | null)[]>> = {
  idle: ['idle'],
  draft: ['idle'],
  working: ['working'],
  retrying: ['retrying', 'working'],
  blocked: ['blocked'],
};

const allowed = (live: Live, state: ScreenState): (AgentRecord['state'] | null)[] => {
  const known = RECORDS[state] ?? [];
  if (live.kind !== 'codex') return known;
  // Its rollout begins with the first prompt, and does not tell of permissions.
  return state === 'blocked' ? ['working'] : state === 'idle' || state === 'draft' ? ['idle', null] : known;
};

/** Waits until screen and record say the same. */
export async function agrees(live: Live, state: ScreenState): Promise<void> {
  const sight = SIGHTS[live.kind];
  const seen = async () => {
    const screen = await live.terminal.screen();
    const reading = sight.read(screen);
    const record = await sight.record(await agentOf(live)).catch(() => null);
    return { screen, reading, record };
  };
  await until(
    `${live.kind} is ${state} by screen and record`,
    async () => {
      const { reading, record } = await seen().catch(() => ({ reading: null, record: null }));
      return reading?.state === state && allowed(live, state).includes(record?.state ?? null);
    },
    60_000,
    async () => JSON.stringify(await seen().catch(String), null, 1).replaceAll('\\n', '\n'),
  );
}

/** Types a prompt at an idle agent as Stepward does, and waits until the agent's own record has it. */
export async function prompt(live: Live, text: string): Promise<void> {
  const sight = SIGHTS[live.kind];
  await agrees(live, 'idle');
  const agent = await agentOf(live);
  const since = await knows(() => sight.position(agent));
  const { text: typed, expected } = sight.encode(text);
  await live.terminal.paste(typed);
  await until(
    'the composer has it',
    async () => sight.read(await live.terminal.screen()).state === 'draft',
    30_000,
    async () => JSON.stringify(sight.read(await live.terminal.screen())),
  );
  expect(await knows(() => sight.received(agent, expected, since))).toBe(false);
  await live.terminal.keys('Enter');
  await until(
    `the record has ${JSON.stringify(text)}`,
    async () => (await sight.received(agent, expected, since)) === true,
    30_000,
    async () => (await live.terminal.screen()).text,
  );
  // Nothing but this text, and not once more.
  expect(await knows(() => sight.received(agent, `${expected}.`, since))).toBe(false);
  const after = await knows(() => sight.position(agent));
  expect(await knows(() => sight.received(agent, expected, after))).toBe(false);
}

/** A server that is busy may answer too late: then nobody knows, and the question is put again. */
async function knows<T>(ask: () => Promise<T | null>): Promise<T> {
  let known: T | null = null;
  await until('the record can be read', async () => {
    known = await ask();
    return known !== null;
  });
  return known as T;
}

/** Interrupts a running turn; OpenCode asks whether it is meant, and a second key that comes before its question is lost. */
export async function interrupt(live: Live, isOver: () => boolean): Promise<void> {
  const isAsked = async () => /\bagain\b/.test((await live.terminal.screen()).text);
  for (let tries = 0; tries < 5 && !isOver(); tries++) {
    for (const key of SIGHTS[live.kind].interruptKeys) {
      await live.terminal.keys(key);
      await until('the key is read', async () => isOver() || (await isAsked()), 3_000).catch(() => {});
    }
    await until('the turn is over', isOver, 3_000).catch(() => {});
  }
  expect(isOver()).toBe(true);
}

/** A key that is sent as soon as a dialog is drawn may be lost: pressed again while the dialog is there. */
export async function answer(live: Live, key: string): Promise<void> {
  const { read } = SIGHTS[live.kind];
  const isGone = async () => read(await live.terminal.screen()).state !== 'blocked';
  for (let tries = 0; tries < 5 && !(await isGone()); tries++) {
    await live.terminal.keys(key);
    await until('the dialog is gone', isGone, 3_000).catch(() => {});
  }
  expect(await isGone()).toBe(true);
}
