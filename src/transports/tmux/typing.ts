// One text on its way to an agent.
import type { Hand, Place } from '../transport.ts';
import type { Parts } from './parts.ts';
import type { Which } from './typed.ts';

export interface Typing {
  parts: Parts;
  place: Place;
  hand: Hand;
  which: Which;
  /** The names of its once steps. */
  steps: { paste: string; enter: string; again: string };
  line: string;
}
