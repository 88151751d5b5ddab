// What `watch` shows, wherever it comes from.
import type { StateObject } from '../../jobs/status.ts';

export interface Seen {
  state: StateObject;
  /** Null where the source does not know: the bus carries no titles. */
  agent: string | null;
  title: string | null;
  /** False: nobody drives it, though it is open. Null: unknown. */
  driven: boolean | null;
  /** What tools get: the whole status from the registry, the state from the bus. */
  object: object;
  /** What happened last, for people; only where one job is watched. */
  happened: readonly string[];
}

export interface Source {
  /** In words: where the news come from, or what is wrong. */
  label(): string;
  /** The clock that the times are of, ms. */
  now(): number;
  /** Oldest first. */
  read(): Promise<Seen[]>;
  /** Resolves when there may be something new, at the latest after a second, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
