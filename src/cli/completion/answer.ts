// `stepward __complete WORD…`, which the shells' scripts run at every Tab. It must never disturb the line that is being typed:
// no error, nothing written, nothing made.
import type { Command } from 'commander';
import { EXIT } from '../../../machines/job/exit.ts';
import { createContext } from '../context.ts';
import type { Io } from '../io.ts';
import { complete } from './complete.ts';

/** @param build gives the program, with the command defined that the words name. Always 0. */
export async function answer(
  words: readonly string[],
  io: Io,
  build: (words: readonly string[]) => Promise<Command>,
): Promise<number> {
  const ctx = createContext(io, { registry: registryIn(words) }, null);
  try {
    const { candidates, besides } = await complete(words, await build(words.slice(0, -1)), ctx);
    for (const { value, about } of candidates) ctx.out.print(`${value}\t${about}`);
    ctx.out.print(`:${besides}`);
  } catch {
    // A broken config, a registry of a newer build: there is simply nothing to offer.
  }
  await ctx.close().catch(() => {});
  await ctx.out.flush();
  return EXIT.ok;
}

/** The jobs of the registry that the line names. */
function registryIn(words: readonly string[]): string | undefined {
  const typed = words.slice(0, -1);
  const at = typed.lastIndexOf('--registry');
  if (at >= 0) return typed[at + 1] || undefined;
  return typed.findLast((word) => word.startsWith('--registry='))?.slice('--registry='.length) || undefined;
}
