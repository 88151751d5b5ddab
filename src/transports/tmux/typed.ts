// What was typed for an attempt, written down before it is typed: to which pane, to which agent, and what its record held then.
// A driver that comes later learns from it whom to look for and what would be proof.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createOnce, readJson, writeWhole } from '../files.ts';
import type { AgentProcess, Encoded, Sight } from '../sight.ts';
import type { PaneIdentity } from './pane.ts';

export type Which = 'prompt' | 'reminder';

export interface Typed extends Encoded {
  pane: PaneIdentity;
  agent: AgentProcess;
  /** A place in the agent's record: what comes after it is new. */
  position: string | null;
}

const fileOf = (runDir: string, which: Which) => join(runDir, `${which}.json`);
const receiptOf = (runDir: string, which: Which) => join(runDir, `${which}.received`);

/** Null: nothing was typed, or nothing was about to be. */
export const readTyped = (runDir: string, which: Which): Typed | null =>
  readJson(fileOf(runDir, which)) as Typed | null;

export function writeTyped(runDir: string, which: Which, typed: Typed): void {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  writeWhole(fileOf(runDir, which), JSON.stringify(typed));
}

/** Once proven, always proven: records may be compacted or removed. */
export function noteReceipt(runDir: string, which: Which): void {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  createOnce(receiptOf(runDir, which), '');
}

/** Null: nobody can know. */
export async function isReceived(
  sight: Sight,
  runDir: string,
  which: Which,
  typed: Pick<Typed, 'agent' | 'expected' | 'position'>,
): Promise<boolean | null> {
  if (existsSync(receiptOf(runDir, which))) return true;
  // A record that cannot be read just now proves nothing; it is read again.
  const received = await sight.received(typed.agent, typed.expected, typed.position).catch(() => false);
  if (received) noteReceipt(runDir, which);
  return received;
}

const letters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Composers wrap lines where they like, so blanks are not compared. Of a letter made of many (a family of four, marks upon marks) tmux
 * keeps only as much as fits a cell: its first part is compared. One letter more or less is always seen.
 */
function squeeze(text: string): string {
  const isPlain = /^[\x20-\x7e\n\t]*$/.test(text);
  // Taken apart only where there is something to take apart: it is slow, and a look grows old meanwhile.
  const parts = isPlain ? text : Array.from(letters.segment(text.normalize('NFC')), firstOf).join('');
  return parts.replace(/\s+/gu, '');
}
const firstOf = ({ segment }: { segment: string }): string => String.fromCodePoint(segment.codePointAt(0) ?? 0);

export const isSameText = (composer: string | null, text: string): boolean =>
  composer !== null && squeeze(composer) === squeeze(text);
export const holdsText = (composer: string | null, text: string): boolean =>
  composer !== null && squeeze(composer).includes(squeeze(text));
