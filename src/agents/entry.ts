// An agent as a user configures it, and the rules that its parts must keep among themselves.
import type { Way } from '../kernel/rows.ts';
import { WAYS } from '../signals/env-file.ts';
import type { TransportName } from '../transports/transport.ts';
import { type Kind, profileOf } from './index.ts';
import { parseSession, SESSION_FORM } from './session.ts';

/** Which part an agent may take in a loop. A delegated job asks for none. */
export const ROLES = Object.freeze(['planner', 'worker', 'reviewer', 'arbiter'] as const);
export type Role = (typeof ROLES)[number];

/** Becomes part of file names and of session names. */
export const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
export const AGENT_NAME_FORM = '1 to 40 of the characters A-Z a-z 0-9 _ . -, beginning with a letter or digit';

/** Every object has these by itself; a list of agents by name could not tell them apart from one that was written down. */
export const isReserved = (name: string): boolean => name in Object.prototype;

export interface AgentEntry {
  kind: Kind;
  transport?: TransportName | undefined;
  command?: string[] | undefined;
  env?: Record<string, string> | undefined;
  session?: string | undefined;
  role?: Role | undefined;
  /** By which it may speak; default: all. */
  ways?: Way[] | undefined;
}

/** What is wrong with one part of an entry. `part` says which, so that the caller can name its own option or path. */
export interface EntryProblem {
  part: 'transport' | 'command' | 'session' | 'ways';
  value: string;
  problem: string;
  allowed: string;
}

/** Everything but a missing command line, which a caller may still add. */
export function problemOf(entry: AgentEntry): EntryProblem | null {
  const { kind, transport, command, session, ways } = entry;
  const profile = profileOf(kind);
  const reachable = profile.transports.join(', ');
  if (transport && !profile.transports.includes(transport)) {
    return {
      part: 'transport',
      value: transport,
      problem: `does not reach agents of kind ${kind}`,
      allowed: reachable,
    };
  }
  if (command && profile.command === 'none') {
    const allowed = 'no command line for this kind';
    return {
      part: 'command',
      value: command.join(' '),
      problem: `is a command line, and kind ${kind} starts nothing`,
      allowed,
    };
  }
  if (command?.[0] === '') {
    const allowed = 'a command line that begins with a program';
    return { part: 'command', value: '', problem: 'is not a program', allowed };
  }
  if (ways && (ways.length === 0 || new Set(ways).size < ways.length)) {
    const problem = ways.length === 0 ? 'leaves the agent no way to speak' : 'names a way twice';
    return { part: 'ways', value: ways.join(', '), problem, allowed: `each of ${WAYS.join(', ')} once, at least one` };
  }
  if (session !== undefined) {
    const named = parseSession(session);
    if (!named) return { part: 'session', value: session, problem: 'is not a session', allowed: SESSION_FORM };
    const possible = transport ? [transport] : profile.transports;
    if (!possible.includes(named.transport)) {
      const allowed = possible.map((name) => `${name}:TARGET`).join(', ');
      return { part: 'session', value: session, problem: `is on a transport that this agent does not use`, allowed };
    }
  }
  return null;
}
