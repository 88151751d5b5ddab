// What the parts of the tmux transport share.
import type { Clock } from '../../kernel/ports.ts';
import type { Sight } from '../sight.ts';
import type { Tmux, TmuxClientOptions } from './client.ts';
import type { Pulse } from './pulse.ts';

/** All real ms. */
export interface Times {
  /** Between the two looks that prove a session free. */
  twiceMs: number;
  /** How old a look may be when a key is sent. */
  freshMs: number;
  /** Between looks while held. */
  pollMs: number;
  /** How long evidence of an act is waited for. */
  evidenceMs: number;
  /** Between the two looks that prove that a dead driver's paste never happened. */
  secondLookMs: number;
  /** From closing a pane to the end of its process by force. */
  closeMs: number;
}

/** Design section 7. */
export const TIMES: Readonly<Times> = Object.freeze({
  twiceMs: 150,
  freshMs: 250,
  pollMs: 250,
  evidenceMs: 10_000,
  secondLookMs: 5_000,
  closeMs: 3_000,
});

export interface TmuxOptions extends TmuxClientOptions {
  clock: Clock;
  /** What is known of agents of this kind; null: nothing, and nothing is typed at them. */
  sightOf(kind: string): Sight | null;
  times?: Partial<Times>;
}

export interface Parts {
  tmux: Tmux;
  clock: Clock;
  times: Times;
  pulse: Pulse;
  sightOf(kind: string): Sight | null;
  /** Flags of `paste-buffer` that were seen to work on a server of this version. Throws PlaceError. */
  pasteFlags(version: string): Promise<readonly string[]>;
}
