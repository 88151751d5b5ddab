// Every captured screen is read for what it truly was.
import { describe, expect, it } from 'vitest';
import { LIVE_KINDS, SIGHTS } from '../../../src/agents/live/sights.ts';
import { type Captured, captured } from './fixtures.ts';

/** What may be said instead of the truth, where a screen alone does not show it. Never `idle`. */
const alsoAllowed = ({ name, state }: Captured, title: string): string[] => {
  // Before the agent has drawn anything, its screen is any program's.
  if (name.startsWith('starting-0') && state === 'starting') return ['unknown'];
  // A shell writes over what a killed agent left: there is no telling who drew it.
  if (name.startsWith('exited-killed')) return ['unknown', 'starting'];
  // Only the title tells an answer that is on its way from one that has ended.
  if (name.startsWith('working-streaming') && title === '') return ['unknown'];
  return [];
};

describe.each(LIVE_KINDS)('screens of %s', (kind) => {
  const screens = captured(kind);

  it('are there in every state and size', () => {
    const states = new Set(screens.map(({ state }) => state));
    for (const state of ['dialog', 'idle', 'draft', 'working', 'retrying', 'blocked', 'exited']) {
      expect(states).toContain(state);
    }
    expect(new Set(screens.map(({ size }) => size))).toEqual(new Set(['80x24', '100x30', '200x50', '40x20']));
    expect(screens.every(({ agent, version, observed }) => agent === kind && version !== '' && observed)).toBe(true);
  });

  it.each(screens.map((screen) => [screen.name, screen] as const))('%s', (_, screen) => {
    const { text, title, state } = screen;
    for (const known of [title, '']) {
      const read = SIGHTS[kind].read({ text, title: known });
      expect([state, ...alsoAllowed(screen, known)], read.because).toContain(read.state);
      expect(read.because).not.toBe('');
    }
  });
});

describe('the composer', () => {
  it.each(LIVE_KINDS)('of %s is empty where it is idle, and holds what was typed', (kind) => {
    const screens = captured(kind);
    for (const screen of screens.filter(({ state }) => state === 'idle')) {
      expect(SIGHTS[kind].read(screen).composer, screen.name).toBe('');
    }
    for (const screen of screens.filter(({ name }) => /^draft-\d+x\d+$/.test(name))) {
      expect(SIGHTS[kind].read(screen).composer, screen.name).toBe('half a thought');
    }
  });

  it.each(['claude', 'opencode'] as const)('of %s cannot be known where the text is folded', (kind) => {
    for (const screen of captured(kind).filter(({ name }) => name.startsWith('draft-lines-'))) {
      expect(SIGHTS[kind].read(screen).composer, screen.name).toBeNull();
    }
  });
});
