// A person, or a script of theirs: nothing is typed and nothing is started; they read the brief and emit.
import type { AgentProfile } from './profile.ts';

export const human: AgentProfile = Object.freeze({
  kind: 'human',
  summary: 'a person who reads the brief and calls stepward emit',
  transports: ['human'] as const,
  command: 'none',
  env: Object.freeze({}),
});
