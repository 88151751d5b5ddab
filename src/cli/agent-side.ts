// What `emit` and `report`, the commands of agents, share. Loaded for every event: no commander, no zod, no colours.
import { parseArgs } from 'node:util';
import { EXIT } from '../../machines/job/exit.ts';
import { AttemptError, InputError } from '../signals/errors.ts';
import type { Io } from './io.ts';

export type AgentIo = Pick<Io, 'stdout' | 'stderr' | 'env' | 'cwd' | 'world'>;

export function processIo(): AgentIo {
  const { stdout, stderr, env } = process;
  // The event is handed over by then: a reader that has gone away (EPIPE) must not turn that into a failure.
  for (const stream of [stdout, stderr]) if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  return { stdout, stderr, env, cwd: process.cwd() };
}

const OPTIONS = {
  detail: { type: 'string' },
  report: { type: 'string' },
  artifact: { type: 'string', multiple: true },
  job: { type: 'string' },
  attempt: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
type Option = keyof typeof OPTIONS;

export interface Parsed {
  words: string[];
  artifacts: string[];
  values: Partial<Record<'detail' | 'report' | 'job' | 'attempt', string>>;
  help: boolean;
}

/** Throws InputError. */
export function parseAgentArgs(args: string[], allowed: readonly Option[]): Parsed {
  const options = Object.fromEntries(allowed.map((name) => [name, OPTIONS[name]]));
  const { values, tokens } = parsed(args, options);
  const {
    artifact: _,
    json: __,
    help,
    ...texts
  } = values as Parsed['values'] & { help?: boolean } & Record<string, unknown>;
  return { ...wordsAndArtifacts(tokens), values: texts as Parsed['values'], help: help === true };
}

function parsed(args: string[], options: Record<string, (typeof OPTIONS)[Option]>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, tokens: true });
  } catch (error) {
    const allowed = Object.keys(options).map((name) => `--${name}`);
    throw new InputError('option', null, (error as Error).message, allowed.join(', '));
  }
}

type Token = NonNullable<ReturnType<typeof parsed>['tokens']>[number];

/** Words right after an --artifact are further artifacts: `--artifact out/*.png` is many words by the time we see it. */
function wordsAndArtifacts(tokens: Token[]): Pick<Parsed, 'words' | 'artifacts'> {
  const words: string[] = [];
  const artifacts: string[] = [];
  let into = words;
  for (const token of tokens) {
    if (token.kind === 'option') {
      into = token.name === 'artifact' ? artifacts : words;
      if (into === artifacts) artifacts.push(token.value ?? '');
    } else if (token.kind === 'positional') {
      into.push(token.value);
    }
  }
  return { words, artifacts };
}

/** Prints the sentence, with --json also an object, and gives the exit code. */
export function tellError(error: unknown, json: boolean, io: AgentIo): number {
  const [exit, kind] = kindOf(error);
  const message = error instanceof Error ? error.message : String(error);
  io.stderr.write(`${exit === EXIT.refused ? 'refused: ' : ''}${message}\n`);
  if (json) io.stdout.write(`${JSON.stringify({ outcome: kind, exit, message })}\n`);
  return exit;
}

/** Who cannot prove which attempt it is, is refused; who asks for what cannot be, made a mistake. */
function kindOf(error: unknown): [exit: number, kind: string] {
  if (error instanceof InputError) return [EXIT.usage, 'usage'];
  if (error instanceof AttemptError && error.problem !== 'unusable') return [EXIT.refused, 'refused'];
  return [EXIT.failed, 'error'];
}
