// Hosts as real processes, and what their lines say.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Options, Project, Running } from './support.ts';

export interface Line {
  at: string;
  level: string;
  what: string;
  job?: string;
  message: string;
  [more: string]: unknown;
}

export const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** A host that has said that it runs. */
export async function startHost(p: Project, flags: string[] = [], options: Options = {}): Promise<Running> {
  const host = p.start(['host', ...flags], options);
  await host.says(/"what":"started"/);
  return host;
}

export const says = (host: Running, what: string, job: string): Promise<string> =>
  host.says(new RegExp(`"what":"${what}","job":"${job}"`));

/** A row that nobody drives: its `delegate` was killed right after it had it. */
export async function orphan(p: Project, args: string[] = ['delegate', '--agent', 'human', '--prompt', 'x']) {
  const driver = p.start(args);
  const id = await driver.says(/registered job: (\S+)/);
  driver.child.kill('SIGKILL');
  await driver.ended;
  return id;
}

export const registryOf = (p: Project): string => join(p.dir, '.stepward');

/** What the hosts that `--detach` has started have said. */
export function logOf(p: Project): Line[] {
  const file = join(registryOf(p), 'host.log');
  return existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : [];
}

/** Ends whatever host runs. */
export async function stop(p: Project): Promise<void> {
  const { code, stdout, stderr } = await p.run(['host', '--stop']);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
}

export async function hostStatus(p: Project): Promise<{ running: boolean; pid: number | null; drives: string[] }> {
  return JSON.parse((await p.run(['host', '--status', '--json'])).stdout);
}
