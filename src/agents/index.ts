// The kinds of agents that this build knows.
import { command } from './command.ts';
import { human } from './human.ts';
import type { AgentProfile } from './profile.ts';

export const PROFILES = Object.freeze({ command, human } satisfies Record<string, AgentProfile>);
export type Kind = keyof typeof PROFILES;
export const KINDS = Object.freeze(Object.keys(PROFILES)) as readonly Kind[];

export const profileOf = (kind: Kind): AgentProfile => PROFILES[kind];
