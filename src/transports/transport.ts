// How an agent is reached. One implementation per folder; all pass tests/transports/conformance.ts.
// A transport knows places and keys; it does not know rows, states or rules.
import type { Delivery } from '../../machines/job/setup.ts';
import type { Hold } from '../../machines/job/vocabulary.ts';
import type { OnceStep, StepInspection, StepOutcome } from '../kernel/once.ts';

export const TRANSPORTS = Object.freeze(['headless', 'human', 'tmux'] as const);
export type TransportName = (typeof TRANSPORTS)[number];

/** Where one attempt takes place, and what is to happen there. Everything in it survives the driver: another one can look at
 *  the same place with the same values. */
export interface Place {
  job: string;
  attempt: number;
  /** The part of the session after the colon: a pane, a name. */
  target: string;
  /** The agent's working directory, absolute. */
  cwd: string;
  /** Outside the agent's reach: where a transport keeps its own files for this attempt (markers, output, exit status). */
  runDir: string;
  /** The brief, absolute. */
  brief: string;
  /** The agent's command line, for transports that start it; `{brief}` stands for the brief's path. Empty: nothing to start. */
  argv: string[];
  /** The whole environment of a started agent; nothing else is inherited. */
  env: Record<string, string>;
  /** The agent's kind (claude, codex, …): how a transport of live sessions must read its screen. Others do not need it. */
  kind?: string;
  /** Without visible work for longer than this, ms, a turn counts as hidden. Absent: the transport's own. Give less than the
   *  idle timeout, which begins only then. */
  quietMs?: number;
}

/** Who holds the session, by the registry. */
export interface Owner {
  registry: string;
  job: string;
  attempt: number;
  epoch: number;
  pid: number;
  started: string;
}

/**
 * The session's own mark: a number that only grows, kept where the keys go. Whoever takes the session raises it; every act
 * names the number it was given, and the session checks it in the same action. A driver that slept past its lease still holds
 * an old number and can do nothing, however it wakes. Release leaves the number: a sleeper must not find the session untouched.
 */
export interface Fence {
  mark: number;
}

export type TurnSeen = 'working' | 'blocked' | 'settled' | 'hidden';

/** One look. It never throws because something is gone or unreadable: it says so. */
export interface Look {
  /** The session is there. A headless one that has not been started yet is there; one that has ended is not. */
  alive: boolean;
  /** Why nothing may be typed now; null: free (turn settled, composer empty, no dialog). */
  hold: Hold | null;
  /** What can be said about the running turn; `hidden` where nothing can. */
  turn: TurnSeen;
  /** Our own prompt is in the agent's record: it has arrived and the turn is ours. */
  nonce: boolean;
  /** The session holds nothing of ours any more: no running turn, no text. */
  clean: boolean;
  /** For people: `exited with code 1`, `dialog: …`. */
  detail: string | null;
}

export interface Capabilities {
  /** `look().turn` means something. False: the turn is hidden and the idle clock decides. */
  observesTurn: boolean;
  /** A dialog can be seen. False: a question that the agent has told of stays open until the agent says otherwise; growing
   *  output does not answer it. */
  seesDialogs: boolean;
  /** Stepward starts the agent itself, so a running turn can only be ours and may be ended with the attempt. */
  ownsAgent: boolean;
  /** The session checks the fence in the same action as the act. */
  fences: boolean;
  /** A second text can be typed after the turn has settled. */
  reminds: boolean;
  /** How long cleanup waits for a turn to settle before it goes on, ms; never longer than the plan says. */
  settleMs: number;
}

/** What a transport may use while it delivers. Made by the kernel for one outbox row and one epoch. */
export interface Hand {
  readonly fence: Fence;
  /** Aborted: begin no further step. */
  readonly signal: AbortSignal;
  once(step: OnceStep): Promise<StepOutcome>;
  /** What became of a step of this attempt. */
  inspect(step: string): Promise<StepInspection>;
  /** Tells the row what keeps us from typing. */
  hold(hold: Hold): Promise<void>;
  sleep(ms: number): Promise<void>;
}

/** A place that cannot be used: the sentence says what was seen and what to do. */
export class PlaceError extends Error {
  override name = 'PlaceError';
}

export type { OnceStep, StepInspection, StepOutcome };

/** Every method ends by itself within a few seconds (`inject` and `remind`: while held, until the signal aborts). */
export interface Transport {
  readonly name: TransportName;
  readonly capabilities: Capabilities;
  /** Throws PlaceError. Changes nothing. */
  preflight(place: Place): Promise<void>;
  look(place: Place): Promise<Look>;
  /** Resolves when something may have changed, after `ms` at the latest, at once when the signal aborts. */
  change(place: Place, ms: number, signal: AbortSignal): Promise<void>;
  /** Raises the mark and gives the new number; null while a holder has it that may not be replaced. */
  takeMark(place: Place, owner: Owner, mayReplace: (holder: Owner) => Promise<boolean>): Promise<Fence | null>;
  dropMark(place: Place, fence: Fence): Promise<void>;
  /** Brings the prompt to the agent, at most once, and says what is known about it. */
  inject(place: Place, hand: Hand): Promise<Delivery>;
  /** Types the one reminder, at most once. Transports without it do nothing. */
  remind(place: Place, hand: Hand): Promise<void>;
  /** Asks a running turn of ours to stop. Does nothing if the fence is not the session's. */
  interrupt(place: Place, fence: Fence): Promise<void>;
  /** Clears the composer, only while it holds exactly our text. */
  clearOwnText(place: Place, fence: Fence): Promise<void>;
  /** Ends what this transport started for the attempt, and makes sure nothing of it can start later. Idempotent. */
  reap(place: Place, fence: Fence): Promise<void>;
}
