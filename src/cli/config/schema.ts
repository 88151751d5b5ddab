// What stepward.config.{yaml,yml,json,ts} may hold. Every key is optional; an unknown one is an error, since a misspelt limit
// that is silently ignored ends in a job that runs too long.
import { z } from 'zod';
import { AGENT_NAME, AGENT_NAME_FORM, isReserved, problemOf, ROLES } from '../../agents/entry.ts';
import { KINDS } from '../../agents/index.ts';
import { WAYS } from '../../signals/env-file.ts';
import { TRANSPORTS } from '../../transports/transport.ts';
import { DURATION_FORM, parseDuration } from '../durations.ts';

/** A problem in our own words: `params` carries what the message needs. */
export interface Problem {
  problem: string;
  allowed: string;
  /** Where the value at the path is not what is wrong: a key. */
  value?: string;
}

const duration = z.unknown().transform((value, context) => {
  const ms = typeof value === 'string' ? parseDuration(value) : null;
  if (ms !== null) return ms;
  const params: Problem = { problem: 'is not a duration', allowed: DURATION_FORM };
  context.addIssue({ code: 'custom', params: { ...params } });
  return z.NEVER;
});

const agent = z
  .strictObject({
    kind: z.enum(KINDS),
    transport: z.enum(TRANSPORTS).optional(),
    command: z.array(z.string().min(1)).min(1).optional(),
    env: z.record(z.string().min(1), z.string()).optional(),
    session: z.string().optional(),
    role: z.enum(ROLES).optional(),
    ways: z.array(z.enum(WAYS)).min(1).optional(),
  })
  .superRefine((entry, context) => {
    const found = problemOf(entry);
    if (!found) return;
    const params: Problem = { problem: found.problem, allowed: found.allowed };
    context.addIssue({ code: 'custom', path: [found.part], params: { ...params } });
  });

/** Before the entries are read: a record drops `__proto__` without a word. */
const agentNames = z.unknown().superRefine((entries, context) => {
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) return;
  for (const name of Object.keys(entries).filter((key) => isReserved(key) || !AGENT_NAME.test(key))) {
    const problem = isReserved(name) ? 'is reserved and names no agent' : 'is not a name for an agent';
    const params: Problem = { problem, allowed: AGENT_NAME_FORM, value: name };
    context.addIssue({ code: 'custom', path: [name], params: { ...params } });
  }
});
const agents = agentNames.pipe(z.record(z.string(), agent));

const timeouts = z.strictObject({
  job: duration.optional(),
  idle: duration.optional(),
  permission: duration.optional(),
  queue: duration.optional(),
});

/** Checked further in bus-settings.ts, together with the environment. */
const bus = z.strictObject({
  url: z.string().min(1).optional(),
  prefix: z.string().min(1).optional(),
  username: z.string().min(1).optional(),
  password: z.string().optional(),
  ca: z.string().min(1).optional(),
  cert: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
  agent: z.strictObject({ username: z.string().min(1), password: z.string() }).optional(),
});

export const Config = z.strictObject({
  agents: agents.default({}),
  timeouts: timeouts.default({}),
  bus: bus.default({}),
  registry: z.string().min(1).optional(),
});
export type Config = z.infer<typeof Config>;

/** The keys that may stand at a path of the config, for suggestions. */
export function keysAt(path: readonly PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(Config.shape);
  if (path.length === 1 && path[0] === 'timeouts') return Object.keys(timeouts.shape);
  if (path.length === 1 && path[0] === 'bus') return Object.keys(bus.shape);
  if (path.length === 2 && path[0] === 'agents') return Object.keys(agent.shape);
  return [];
}
