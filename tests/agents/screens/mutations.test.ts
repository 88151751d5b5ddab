// Screens that nobody has captured: cut, shifted, half drawn, with other screens quoted in them. What is not idle must never be read as
// idle, since a text would then be typed into it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIVE_KINDS, SIGHTS } from '../../../src/agents/live/sights.ts';
import type { Screen } from '../../../src/transports/sight.ts';
import { type Captured, captured } from './fixtures.ts';

const all = LIVE_KINDS.flatMap((kind) => captured(kind).map((screen) => ({ ...screen, kind })));
type Known = (typeof all)[number];
const read = ({ kind }: Known, screen: Screen) => SIGHTS[kind].read(screen);
const busy = all.filter(({ state }) => state !== 'idle');
/** OpenCode's windows lie over everything else; of one whose signs are all cut away nothing is left to see. */
const uncovered = busy.filter(({ kind, state }) => kind !== 'opencode' || state !== 'dialog');
const drawn = busy.filter(({ text, state }) => text.trim() !== '' && state !== 'exited');
const anyOf = (screens: readonly Known[]) => fc.constantFrom(...screens);
const lines = ({ text }: Captured): string[] => text.split('\n');

const widthOf = ({ size }: Captured): number => Number(size.split('x')[0]);

const neverIdle = (screens: readonly Known[], change: (known: Known, n: number, m: number) => string) =>
  fc.assert(
    fc.property(anyOf(screens), fc.nat(400), fc.nat(400), (known, n, m) => {
      const text = change(known, n, m);
      expect(read(known, { text, title: known.title }).state, `${known.name}\n${text}`).not.toBe('idle');
    }),
    { numRuns: 3_000 },
  );

describe('a screen that is not idle', () => {
  it('is not idle when lines are missing at the top', () => {
    neverIdle(uncovered, (known, n) =>
      lines(known)
        .slice(n % lines(known).length)
        .join('\n'),
    );
  });

  it('is not idle when lines are missing at the bottom', () => {
    neverIdle(busy, (known, n) =>
      lines(known)
        .slice(0, n % lines(known).length)
        .join('\n'),
    );
  });

  it('is not idle when it is cut at the right', () => {
    neverIdle(uncovered, (known, n) =>
      lines(known)
        .map((line) => line.slice(0, Math.ceil(widthOf(known) * (0.7 + (n % 30) / 100))))
        .join('\n'),
    );
  });

  it('is not idle when it stands in a frame, or shifted', () => {
    neverIdle(busy, (known, n) =>
      lines(known)
        .map((line) => `${' '.repeat(1 + (n % 9))}${line}`)
        .join('\n'),
    );
    neverIdle(busy, (known) =>
      lines(known)
        .map((line) => `│${line}`)
        .join('\n'),
    );
  });

  it('is not idle when the screen of an idle one is quoted in what was said', () => {
    fc.assert(
      fc.property(anyOf(drawn), anyOf(all.filter(({ state }) => state === 'idle')), fc.nat(60), (known, other, n) => {
        const own = lines(known);
        const quoted = lines(other).map((line) => `  ${line}`);
        // In what was said: above the composer, or above the lower half where there is none.
        const composer = own.findLastIndex((line) => /^(?:❯|›| *╹▀)/.test(line));
        const at = n % Math.max(1, composer < 0 ? Math.floor(own.length / 2) : composer - 4);
        const text = [...own.slice(0, at), ...quoted, ...own.slice(at)].join('\n');
        expect(read(known, { text, title: known.title }).state, text).not.toBe('idle');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not idle when one line is gone, whichever it is', () => {
    for (const known of busy) {
      for (let i = 0; i < lines(known).length; i++) {
        const text = lines(known).toSpliced(i, 1).join('\n');
        // The line that was typed: nothing is left of the draft without it.
        if (isTyped(known, i)) continue;
        expect(read(known, { text, title: known.title }).state, `${known.name} without ${i}\n${text}`).not.toBe('idle');
      }
    }
  });
});

/** The one line that holds all of what is typed. */
const isTyped = (known: Known, i: number): boolean =>
  /^\s*[❯›┃]\s*\S/.test(lines(known)[i]!) && known.state === 'draft';

describe('a screen of another kind', () => {
  it.each(LIVE_KINDS)('is never idle to %s', (kind) => {
    for (const other of all.filter((known) => known.kind !== kind)) {
      expect(SIGHTS[kind].read(other).state, other.name).not.toBe('idle');
    }
  });

  const programs: Record<string, string> = {
    'an empty screen': '',
    'blank lines': '\n'.repeat(23),
    'a shell': 'root@host:/x# ls\nfile\nroot@host:/x#',
    'a shell with another prompt': '~/work\n❯',
    'a shell with a codex-like prompt': '›',
    vim: `text\n${'~\n'.repeat(20)}"file" 1L, 5B          1,1           All`,
    less: 'a\nb\nc\n:',
    top: 'top - 12:00:00 up 1 day\nTasks: 1 total\n  PID USER\n    1 root',
    python: 'Python 3.12\n>>> ',
    'rules of two widths': `${'─'.repeat(40)}\n❯\n${'─'.repeat(30)}\n  ? for shortcuts`,
    'a list': '1. one\n2. two\n\n  esc to cancel',
  };

  it.each(LIVE_KINDS)('nor is any other program idle to %s', (kind) => {
    for (const [name, text] of Object.entries(programs)) {
      expect(SIGHTS[kind].read({ text, title: '' }).state, name).not.toBe('idle');
    }
    expect(SIGHTS[kind].read({ text: programs['a shell'] ?? '', title: '' }).state).toBe('exited');
  });

  it('is never idle, whatever stands there', () => {
    const glyph = fc.constantFrom(...'─━│╭╰❯›>●•✻·…┃╹▀△ \n', 'esc to interrupt', '? for shortcuts', '1. ', 'a');
    const text = fc.array(glyph, { maxLength: 80 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.constantFrom(...LIVE_KINDS), text, fc.string(), (kind, screen, title) => {
        expect(SIGHTS[kind].read({ text: screen, title }).state).not.toBe('idle');
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('an idle screen', () => {
  const idle = all.filter(({ state }) => state === 'idle');
  /** Where each agent shows what was said: indented, behind a bullet or a bar. */
  const said: Record<Known['kind'], (line: string, i: number) => string> = {
    claude: (line, i) => `${i === 0 ? '●' : ' '} ${line}`,
    codex: (line, i) => `${i === 0 ? '›' : ' '} ${line}`,
    opencode: (line) => `  ┃  ${line}`,
  };

  it('stays idle when a dialog, a spinner or a whole other screen is quoted in what was said', () => {
    fc.assert(
      fc.property(anyOf(idle), anyOf(all), (known, other) => {
        // A quoted window of OpenCode's own cannot be told from an open one: nothing is typed until it has scrolled away.
        fc.pre(known.kind !== 'opencode' || other.kind !== 'opencode' || other.state !== 'dialog');
        const quoted = lines(other).map(said[known.kind]);
        const own = lines(known);
        const text = [...quoted, '', ...own].join('\n');
        const { state, because } = read(known, { text, title: known.title });
        expect(state, `${because}\n${text}`).toBe('idle');
      }),
      { numRuns: 2_000 },
    );
  });

  it('stays idle when it has scrolled, down to the composer and what ended the turn', () => {
    for (const known of idle) {
      const own = lines(known);
      const composer = own.findLastIndex((line) => /^(?:❯|›| *╹▀)/.test(line));
      const kept = Math.max(0, composer - 6);
      expect(read(known, { text: own.slice(kept).join('\n'), title: known.title }).state, known.name).toMatch(
        /idle|unknown/,
      );
    }
  });

  it('stays idle when a thought of an ended turn is still shown', () => {
    for (const known of idle.filter(({ kind, name }) => kind === 'claude' && name.startsWith('idle-after'))) {
      const text = known.text.replace('● ', '∴ Thinking…\n\n  about it\n\n● ');
      expect(text).not.toBe(known.text);
      expect(read(known, { ...known, text }).state, known.name).toBe('idle');
    }
  });

  it('is not idle when its title spins', () => {
    for (const known of idle) {
      for (const title of ['⠂ Claude Code', '⠼ work', '◐ work']) {
        expect(read(known, { ...known, title }).state, known.name).not.toBe('idle');
      }
    }
  });

  it('is a draft when something is typed', () => {
    for (const known of idle.filter(({ kind }) => kind === 'claude')) {
      const own = lines(known);
      const typed = own
        .with(
          own.findLastIndex((line) => line.trim() === '❯'),
          '❯ yes',
        )
        .join('\n');
      expect(read(known, { ...known, text: typed }).state, known.name).toBe('draft');
    }
  });
});
