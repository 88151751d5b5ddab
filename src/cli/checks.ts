// What `doctor` looks at. Each check gives what it saw, and what to do where something is missing; none of them writes.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { PHASES } from '../../machines/job/vocabulary.ts';
import { profileOf } from '../agents/index.ts';
import { entryOf, knownAgents } from '../agents/resolve.ts';
import type { Registry } from '../kernel/ports.ts';
import { loadDriver } from '../registry/sqlite/driver.ts';
import { REGISTRY_FILE } from '../registry/sqlite/files.ts';
import { SCHEMA_VERSION } from '../registry/sqlite/plans.ts';
import { resolveCommand } from '../transports/command.ts';
import { childEnvironment } from '../transports/environment.ts';
import type { Context } from './context.ts';
import { holderOf, needsDriver } from './holder.ts';

export interface Check {
  name: string;
  ok: boolean;
  /** What was seen, for people. */
  seen: string;
  data?: object;
}

/** Oldest Node that package.json's `engines` allows. */
const NODE = [20, 19] as const;
/** Design section 7: a key is sent only on a look at most this old. */
export const LOOK_WINDOW_MS = 250;

export async function node(): Promise<Check> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > NODE[0] || (major === NODE[0] && minor >= NODE[1]);
  return { name: 'node', ok, seen: `${process.version}${ok ? '' : `; needed: ${NODE.join('.')} or newer`}` };
}

export async function sqlite(): Promise<Check> {
  const { name, open } = await loadDriver();
  const database = open(':memory:', false);
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  return { name: 'sqlite', ok: true, seen: `${name}, SQLite ${version}`, data: { driver: name, version } };
}

export async function git({ io }: Context): Promise<Check> {
  const { stdout } = await execa('git', ['--version'], { cwd: io.cwd, env: io.env, extendEnv: false });
  return { name: 'git', ok: true, seen: stdout };
}

export async function config(ctx: Context): Promise<Check> {
  const { configFile } = await ctx.project();
  await ctx.config();
  return { name: 'config', ok: true, seen: configFile ?? 'none; stepward init writes one', data: { file: configFile } };
}

export async function registry(ctx: Context): Promise<Check> {
  const { dir, source } = await ctx.registryPlace();
  const where = `${dir} (${source})`;
  const fs = `file system type 0x${statfsSync(existingParent(dir)).type.toString(16)}`;
  if (!(await ctx.registry())) {
    const seen = `${where}, not there yet: the first job makes it; ${fs}`;
    return { name: 'registry', ok: true, seen, data: { dir, source, exists: false } };
  }
  const bytes = ['', '-wal']
    .map((end) => statSync(join(dir, REGISTRY_FILE + end), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
  const seen = `${where}, ${Math.ceil(bytes / 1024)} KiB, schema ${SCHEMA_VERSION}; ${fs}`;
  return { name: 'registry', ok: true, seen, data: { dir, source, exists: true, bytes, schema: SCHEMA_VERSION } };
}

function existingParent(dir: string): string {
  return existsSync(dir) || dir === dirname(dir) ? dir : existingParent(dirname(dir));
}

/** One check for each agent: where its program really is, by the environment that it will get. */
export async function agents(ctx: Context): Promise<Check[]> {
  const configured = (await ctx.config()).agents;
  return knownAgents(configured).map((agent) => {
    const entry = entryOf(agent, configured)!;
    const profile = profileOf(entry.kind);
    const name = `agent ${agent}`;
    const data = { agent, kind: entry.kind, path: null };
    const [program] = entry.command ?? [];
    if (profile.command === 'none') return { name, ok: true, seen: `${entry.kind}: nothing to start`, data };
    if (program === undefined) {
      // The kind under its own name: the caller brings the command line.
      const ok = !Object.hasOwn(configured, agent);
      return { name, ok, seen: `${entry.kind}: needs a command line (agents.${agent}.command, or behind --)`, data };
    }
    const { PATH } = { ...childEnvironment(ctx.io.env, {}), ...entry.env };
    try {
      const path = resolveCommand(program, ctx.io.cwd, PATH);
      return { name, ok: true, seen: `${entry.kind}: ${path}`, data: { ...data, path } };
    } catch (error) {
      return { name, ok: false, seen: `${entry.kind}: ${(error as Error).message}`, data };
    }
  });
}

export async function rows(ctx: Context): Promise<Check> {
  const open: Registry | null = await ctx.registry();
  const all = (await open?.list()) ?? [];
  const byPhase = Object.fromEntries(PHASES.map((phase) => [phase, all.filter((row) => row.phase === phase).length]));
  let undriven = 0;
  for (const row of all) if (needsDriver(row) && !(await holderOf(open!, row.id))) undriven++;
  const counted = Object.entries(byPhase).filter(([, count]) => count > 0);
  const words = counted.map(([phase, count]) => `${count} ${phase}`).join(', ') || 'none';
  const seen = undriven > 0 ? `${words}; ${undriven} open without a live driver: stepward resume` : words;
  return { name: 'jobs', ok: true, seen, data: { ...byPhase, undriven } };
}

export async function look(): Promise<Check> {
  const seen = `a key is sent only on a look at most ${LOOK_WINDOW_MS} ms old`;
  return { name: 'look', ok: true, seen, data: { windowMs: LOOK_WINDOW_MS } };
}
