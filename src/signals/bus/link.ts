// One connection to a broker, whichever side of it we are: a client's, or the broker's own inside this process.
import type { BusError } from './types.ts';

export interface Message {
  topic: string;
  payload: string;
  /** The broker kept it: it was not published just now. */
  retain: boolean;
}

/** Resolves when the message is dealt with: only then it is acknowledged to the broker. */
export type OnMessage = (message: Message) => Promise<void>;

/** Every method throws BusError: `denied`, or `lost` where the connection ends, or answers nothing for ANSWER_MS. */
export interface Link {
  /** Resolves when the broker has confirmed it. */
  subscribe(filter: string): Promise<void>;
  unsubscribe(filter: string): Promise<void>;
  /** QoS 1. Resolves when the broker has confirmed it. */
  publish(topic: string, payload: string, retain: boolean): Promise<void>;
  /** Resolves, never rejects, when the connection has ended, with why. */
  readonly closed: Promise<BusError>;
  /** The last will is not published. Idempotent; never throws; at most CLOSE_MS. */
  close(): Promise<void>;
}

export interface Will {
  topic: string;
  payload: string;
}

/** How long connecting may take, ms, names and certificates included. */
export const CONNECT_MS = 3000;
/** How long a broker may take to confirm, ms. One that does not is a black hole, and given up. */
export const ANSWER_MS = 3000;
/** How long a farewell may take, ms. */
export const CLOSE_MS = 500;

/**
 * The promise, or after `ms` what `late` throws. A process that stood still (a closed lid, a busy machine) finds its timers due
 * before it has read what came meanwhile: so it reads once more before it believes that nothing came.
 */
export async function within<T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => setImmediate(() => reject(late()))), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
