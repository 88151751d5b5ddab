// The kinds of agents whose terminals can be read.
import type { Sight } from '../../transports/sight.ts';
import { claudeSight } from '../claude/sight.ts';
import { codexSight } from '../codex/sight.ts';
import { opencodeSight } from '../opencode/sight.ts';

export const SIGHTS = Object.freeze({ claude: claudeSight, codex: codexSight, opencode: opencodeSight });
export type LiveKind = keyof typeof SIGHTS;
export const LIVE_KINDS = Object.freeze(Object.keys(SIGHTS)) as readonly LiveKind[];

/** Null: this build cannot read its terminal. */
export const sightOf = (kind: string): Sight | null =>
  LIVE_KINDS.includes(kind as LiveKind) ? SIGHTS[kind as LiveKind] : null;
