// A screen as lines, and what is the same for every agent: where the ink is, and what a title's first sign says.
import type { Reading, Screen, ScreenState } from '../../transports/sight.ts';

/** Without the empty lines at the end, and without what ends each line. */
export function linesOf({ text }: Screen): string[] {
  const lines = text.split('\n').map((line) => line.replaceAll('\u00a0', ' ').trimEnd());
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

export const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';

/** The last line above `end` with something on it; -1: none. */
export const inkAbove = (lines: readonly string[], end: number): number =>
  lines.slice(0, Math.max(0, end)).findLastIndex((line) => !isBlank(line));

/** Braille and turning circles: whichever an agent uses for its spinner today, no agent uses them for rest. */
export const titleSpins = (title: string): boolean => /^\s*[\u2801-\u28ff◐◑◒◓◜◝◞◟]/.test(title);

export const reading = (state: ScreenState, because: string, composer: string | null = null): Reading => ({
  state,
  because,
  composer,
});
