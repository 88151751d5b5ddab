// Any command line that reads a brief (its path for `{brief}`, its text on stdin) and may call `stepward emit`.
import type { AgentProfile } from './profile.ts';

export const command: AgentProfile = Object.freeze({
  kind: 'command',
  summary: 'any command line that reads a brief and calls stepward emit',
  transports: ['headless'] as const,
  command: 'required',
  env: Object.freeze({}),
});
