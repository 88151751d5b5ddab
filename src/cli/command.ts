// The shape of a command's file: it defines its arguments and hands over one function that is given the context and gives the
// exit code.
import type { Command } from 'commander';
import type { Context } from './context.ts';

/** Runs the body with a context of its own, and keeps its exit code. */
export type Run = (body: (ctx: Context) => Promise<number>) => Promise<void>;
export type Define = (command: Command, run: Run) => void;

/** The part of a command's help that shows it in use. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
