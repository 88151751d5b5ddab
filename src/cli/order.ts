// What `delegate` is asked for, checked and complete, before anything is written.
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AgentResolution, knownAgents, resolveAgent } from '../agents/resolve.ts';
import type { JobSpec } from '../jobs/spec.ts';
import { readTask } from './brief.ts';
import type { Context } from './context.ts';
import { UsageError } from './errors.ts';
import { suggestion } from './nearest.ts';
import { type LimitFlags, nonEmpty, resolveLimits } from './settings.ts';
import { titleOf } from './text.ts';

export interface OrderFlags extends LimitFlags {
  agent?: string | undefined;
  prompt?: string | undefined;
  brief?: string | undefined;
  cwd?: string | undefined;
  session?: string | undefined;
}

const IDLE_RETRIES = 2;

/** Throws UsageError. Reads; writes and starts nothing. */
export async function placeOrder(ctx: Context, input: string | undefined, flags: OrderFlags): Promise<JobSpec> {
  const { io, rest } = ctx;
  if (input !== undefined && input !== '-') {
    const allowed = '- for standard input; a command line comes behind --';
    throw new UsageError({ option: 'argument', value: input, problem: 'is not expected', allowed });
  }
  const { agents, timeouts } = await ctx.config();
  const fromFlag = flags.agent !== undefined;
  const name = flags.agent ?? nonEmpty(io.env.STEPWARD_AGENT);
  if (name === undefined) {
    throw new UsageError({ option: '--agent', problem: 'is missing', allowed: knownAgents(agents).join(', ') });
  }
  const extras = { command: rest ?? undefined, session: flags.session ?? nonEmpty(io.env.STEPWARD_SESSION) };
  const option = fromFlag ? '--agent' : 'STEPWARD_AGENT';
  const agent = accepted(resolveAgent(name, agents, extras), name, option, flags.session === undefined);
  const limits = resolveLimits(flags, io.env, timeouts);
  const cwd = await workingDirectory(io.cwd, flags.cwd);
  const task = await readTask({ prompt: flags.prompt, brief: flags.brief, stdin: input === '-' }, io);
  const { dir: registryDir } = await ctx.registryPlace();
  await ctx.busSettings();
  // The agent's program is looked for where its caller would find it: a host that was started by systemd, or from another shell,
  // has another PATH.
  const env = { ...(io.env.PATH !== undefined && { PATH: io.env.PATH }), ...agent.env };
  return { ...agent, env, cwd, task, title: titleOf(task), limits, idleRetries: IDLE_RETRIES, registryDir };
}

function accepted(resolution: AgentResolution, name: string, option: string, sessionFromEnvironment: boolean) {
  if (resolution.ok) return resolution.agent;
  switch (resolution.part) {
    case 'name': {
      const problem = `is not a known agent${suggestion(name, resolution.known)}`;
      throw new UsageError({ option, value: name, problem, allowed: resolution.known.join(', ') });
    }
    case 'missing-command': {
      const allowed = 'a command line behind -- (… -- node agent.js {brief}), or agents.NAME.command in the config';
      throw new UsageError({ option, value: name, problem: 'needs a command line to start', allowed });
    }
    case 'session': {
      const from = sessionFromEnvironment ? 'STEPWARD_SESSION' : '--session';
      throw new UsageError({ ...resolution, option: from });
    }
    case 'command':
      throw new UsageError({ ...resolution, option: '--' });
    case 'transport':
    case 'ways':
      throw new UsageError({ ...resolution, option: `agents.${name}.${resolution.part}` });
  }
}

async function workingDirectory(base: string, given: string | undefined): Promise<string> {
  const cwd = resolve(base, given ?? '.');
  const bad = (problem: string) =>
    new UsageError({
      option: '--cwd',
      value: given ?? cwd,
      problem,
      allowed: 'an existing directory that can be written',
    });
  if (given === '') throw bad('is empty');
  const stats = await stat(cwd).catch(() => null);
  if (!stats) throw bad('does not exist');
  if (!stats.isDirectory()) throw bad('is not a directory');
  await access(cwd, constants.W_OK | constants.X_OK).catch(() => {
    throw bad('cannot be written');
  });
  return cwd;
}
