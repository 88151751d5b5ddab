// An agent that really receives prompts: what it does with one, step by step, by its style.
import type { Desk } from './desk.ts';

export const STYLES = Object.freeze([
  'reports',
  /** Reports in the middle of its turn and talks on. */
  'reports-early',
  'fails',
  'bad-report',
  /** Reports only after the reminder. */
  'needs-reminder',
  /** Says that it began, and nothing else. */
  'mute',
  /** Works without a word and reports at the end. */
  'quiet',
  /** Asks a permission in the middle. */
  'asks',
  'exits',
  /** Works for ever. */
  'hangs',
] as const);
export type AgentStyle = (typeof STYLES)[number];

export interface Turn {
  /** `a/1`; empty: a person's own prompt. */
  address: string;
  reminder: boolean;
  left: number;
  asked: boolean;
  /** Since when an onlooker can see it work, simulated ms. */
  since: number;
  stopping: boolean;
}

export interface AgentOptions {
  style: AgentStyle;
  work: number;
}

export type Doing = 'works' | 'asks' | 'exits' | 'ends';

/** One step of a turn. Deterministic: the same turn and options do the same. */
export async function work(desk: Desk, options: AgentOptions, turn: Turn): Promise<Doing> {
  turn.left -= 1;
  if (turn.stopping || turn.address === '') return turn.left <= 0 ? 'ends' : 'works';
  const { style } = options;
  const { address, reminder } = turn;
  const speaks = style !== 'quiet';
  const finish = async (report: 'valid' | 'bad') => {
    desk.handIn(address, report);
    await desk.emit(address, 'completed');
  };
  if (turn.left === options.work - 1 && !reminder && speaks) await desk.emit(address, 'started');
  if (style === 'asks' && !turn.asked && turn.left <= options.work / 2) {
    turn.asked = true;
    await desk.emit(address, 'permission_required');
    return 'asks';
  }
  if (style === 'reports-early' && turn.left === Math.floor(options.work / 2)) await finish('valid');
  if (turn.left > 0) {
    if (turn.left % 7 === 0 && speaks) await desk.emit(address, 'progress');
    return 'works';
  }
  switch (style) {
    case 'exits':
      return 'exits';
    case 'hangs':
      turn.left = 1;
      return 'works';
    case 'fails':
      await desk.emit(address, 'failed');
      return 'ends';
    case 'bad-report':
      await finish('bad');
      return 'ends';
    case 'reports':
    case 'quiet':
    case 'asks':
      await finish('valid');
      return 'ends';
    case 'needs-reminder':
      if (reminder) await finish('valid');
      return 'ends';
    case 'mute':
    case 'reports-early':
      return 'ends';
  }
}
