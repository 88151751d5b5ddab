// Which program a command line runs: the agent's own binary, or an interpreter that runs the script which npm installed.
import { basename } from 'node:path';

const INTERPRETERS = new Set(['node', 'nodejs', 'bun', 'deno']);

export interface Program {
  /** Names of the binary, without `.exe`, `.js` and their like. */
  names: readonly string[];
  /** Parts of the path of a script, where its own name says little (`cli.js`). */
  packages: readonly string[];
  /** First words, and options anywhere, with which it is something else than an agent in a terminal. */
  notWith: readonly string[];
}

export function runs(argv: readonly string[], { names, packages, notWith }: Program): boolean {
  const [first = '', ...rest] = argv;
  const interpreted = INTERPRETERS.has(nameOf(first));
  const at = interpreted ? rest.findIndex((word) => !word.startsWith('-')) : -1;
  // Without a script, or with one on the command line (`node -e`), it is the interpreter itself.
  if (interpreted && (at < 0 || rest.slice(0, at).some((word) => /^-[ep]|^--(?:eval|print)/.test(word)))) return false;
  const path = interpreted ? rest[at]! : first;
  const words = interpreted ? rest.slice(at + 1) : rest;
  const isIt =
    names.includes(nameOf(path)) || (interpreted && packages.some((part) => path.includes(`/node_modules/${part}/`)));
  const other = words.some((word, i) => notWith.includes(word) && (i === 0 || word.startsWith('-')));
  return isIt && !other;
}

/** A program may show only its title in the process table, with more words in it. */
const nameOf = (path: string): string => basename(path.split(' ')[0] ?? '').replace(/\.(?:exe|js|mjs|cjs)$/, '');
