// What must be undone after an attempt has ended, as data. The machine only decides the plan; src/jobs performs it in this
// order, again and again until it is done, although the row itself is finished.
import type { Outcome } from './vocabulary.ts';

export type CleanupStep =
  /** Stop our own running turn. Never with a dialog open (Esc would answer it), never a person's turn. A once step: a second
   *  Ctrl-C quits some agents. */
  | { do: 'interrupt' }
  /** Wait until the agent is idle or gone. */
  | { do: 'await-settled'; limitMs: number }
  /** Remove our text, only while the composer holds exactly our text and no dialog is open. */
  | { do: 'clear-own-text' }
  /** End what we ourselves started (headless processes) and make sure that nothing of this attempt can start any more. */
  | { do: 'reap' }
  /** Free the session if it is clean, else quarantine it with the reason until it is. */
  | { do: 'release-or-quarantine' }
  | { do: 'remove-key' };

interface Facts {
  outcome: Outcome | null;
  deliveryStarted: boolean;
  turnRuns: boolean;
}

const SETTLE_LIMIT_MS = 60_000;

export function cleanupPlan({ outcome, deliveryStarted, turnRuns }: Facts): CleanupStep[] {
  const end: CleanupStep[] = [{ do: 'reap' }, { do: 'release-or-quarantine' }, { do: 'remove-key' }];
  if (!deliveryStarted) return end;
  const settle: CleanupStep[] = [{ do: 'await-settled', limitMs: SETTLE_LIMIT_MS }, { do: 'clear-own-text' }];
  // Only a turn of ours that still ran when last seen: one that had settled may be a person's by now, and the agent's record,
  // which could tell, lags behind. A permission timeout leaves the dialog to the person. A completed job's agent is left to
  // finish its last words.
  const stops = turnRuns && outcome?.reason !== 'permission_timeout' && outcome?.status !== 'completed';
  return stops ? [{ do: 'interrupt' }, ...settle, ...end] : [...settle, ...end];
}
