// From an agent's name to everything a job's row must know about it. Resolved once, at registration: a config that changes
// afterwards must not change a running job.
import type { Way } from '../kernel/rows.ts';
import { WAYS } from '../signals/env-file.ts';
import type { TransportName } from '../transports/transport.ts';
import { type AgentEntry, type EntryProblem, problemOf } from './entry.ts';
import { KINDS, type Kind, profileOf } from './index.ts';
import { OWN_TARGET, parseSession } from './session.ts';

/** The agent's part of a JobSpec (src/jobs/spec.ts). */
export interface ResolvedAgent {
  agent: string;
  kind: Kind;
  transport: TransportName;
  target: string;
  argv: string[];
  env: Record<string, string>;
  ways: readonly Way[];
}

/** What the caller adds to, or puts in place of, the configured entry. */
export interface AgentExtras {
  command?: string[] | undefined;
  session?: string | undefined;
}

export type AgentResolution =
  | { ok: true; agent: ResolvedAgent }
  | { ok: false; part: 'name'; known: string[] }
  | { ok: false; part: 'missing-command'; kind: Kind }
  | ({ ok: false } & EntryProblem);

/** Configured agents first; then the kinds under their own names, so that nothing has to be configured. */
export const knownAgents = (agents: Readonly<Record<string, AgentEntry>>): string[] => [
  ...new Set([...Object.keys(agents), ...KINDS]),
];

export function entryOf(name: string, agents: Readonly<Record<string, AgentEntry>>): AgentEntry | null {
  if (Object.hasOwn(agents, name)) return agents[name] ?? null;
  const kind = KINDS.find((known) => known === name);
  return kind ? { kind } : null;
}

export function resolveAgent(
  name: string,
  agents: Readonly<Record<string, AgentEntry>>,
  extras: AgentExtras = {},
): AgentResolution {
  const configured = entryOf(name, agents);
  if (!configured) return { ok: false, part: 'name', known: knownAgents(agents) };
  const entry: AgentEntry = {
    ...configured,
    ...(extras.command && { command: extras.command }),
    ...(extras.session !== undefined && { session: extras.session }),
  };
  const problem = problemOf(entry);
  if (problem) return { ok: false, ...problem };
  const profile = profileOf(entry.kind);
  const argv = entry.command ?? [];
  if (profile.command === 'required' && argv.length === 0) {
    return { ok: false, part: 'missing-command', kind: entry.kind };
  }
  const session = entry.session === undefined ? null : parseSession(entry.session);
  return {
    ok: true,
    agent: {
      agent: name,
      kind: entry.kind,
      transport: session?.transport ?? entry.transport ?? profile.transports[0],
      target: session?.target ?? OWN_TARGET,
      argv,
      env: { ...profile.env, ...entry.env },
      ways: entry.ways ?? WAYS,
    },
  };
}
