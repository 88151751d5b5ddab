// What may stand where the cursor is. Everything comes from commander's own definitions, so that no second list can grow old:
// a placeholder says what its value is (`<job>`, `<dir>`, `<file>`), choices are choices.
import type { Argument, Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { agentNames, type Candidate, jobIds } from './values.ts';

/** What a shell offers besides the candidates: files, directories, or nothing. */
export type Besides = 'files' | 'dirs' | 'none';

export interface Completion {
  candidates: Candidate[];
  besides: Besides;
}

/**
 * @param words what was typed after the program's name, up to the cursor; the last one is being typed, and may be empty.
 * @param program with all commands named, and the one that was typed defined.
 */
export async function complete(words: readonly string[], program: Command, ctx: Context): Promise<Completion> {
  const typed = words.slice(0, -1);
  const word = words.at(-1) ?? '';
  // The command line of an agent.
  if (typed.includes('--')) return { candidates: [], besides: 'files' };
  const { command, positionals, pending } = read(typed, program);
  const all = await candidatesAt();
  return { ...all, candidates: all.candidates.filter(({ value }) => value.startsWith(word)) };

  async function candidatesAt(): Promise<Completion> {
    if (pending?.required) return valuesOf(pending, ctx, []);
    const given = /^(--[^=]+)=/.exec(word);
    if (given) {
      const option = find(command, program, given[1] ?? '');
      return option ? prefixed(given[0], await valuesOf(option, ctx, [])) : nothing;
    }
    if (word.startsWith('-')) return { candidates: optionsOf(command, typed), besides: 'none' };
    const optional = pending ? await valuesOf(pending, ctx, []) : nothing;
    const rest = await wordsAt(command, program, positionals, typed, ctx);
    return { candidates: [...optional.candidates, ...rest.candidates], besides: rest.besides };
  }
}

const nothing: Completion = { candidates: [], besides: 'none' };

interface Place {
  command: Command;
  positionals: string[];
  /** The option right before the cursor, if it takes a value. */
  pending: Option | null;
}

/** As commander will read the words. */
function read(typed: readonly string[], program: Command): Place {
  const place: Place = { command: program, positionals: [], pending: null };
  let isHelp = false;
  for (const word of typed) {
    const isValue = place.pending?.required === true || (place.pending !== null && !word.startsWith('-'));
    place.pending = isValue || word.includes('=') ? null : find(place.command, program, word);
    if (place.pending && !place.pending.required && !place.pending.optional) place.pending = null;
    if (isValue || word.startsWith('-')) continue;
    const named =
      place.command === program && !isHelp ? program.commands.find((one) => one.name() === word) : undefined;
    if (named) place.command = named;
    else if (word === 'help' && place.positionals.length === 0) isHelp = true;
    else place.positionals.push(word);
  }
  return place;
}

async function wordsAt(
  command: Command,
  program: Command,
  positionals: readonly string[],
  typed: readonly string[],
  ctx: Context,
): Promise<Completion> {
  if (command === program) {
    if (positionals.length > 0) return nothing;
    const visible = program.createHelp().visibleCommands(program);
    return { candidates: visible.map((one) => ({ value: one.name(), about: one.summary() })), besides: 'none' };
  }
  const args = command.registeredArguments;
  const last = args.at(-1);
  const argument = args[positionals.length] ?? (last?.variadic ? last : undefined);
  // `[-]`: a lone dash, which nobody needs help with.
  if (argument && argument.name() !== '-') return valuesOf(argument, ctx, positionals);
  return { candidates: optionsOf(command, typed), besides: 'none' };
}

/** Those of the command, then those of all commands; without those that were given and may be given only once. */
function optionsOf(command: Command, typed: readonly string[]): Candidate[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
    .filter((option) => option.variadic || !typed.some((word) => isNamed(option, word.split('=')[0] ?? '')))
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', about: description }));
}

function find(command: Command, program: Command, word: string): Option | null {
  if (!word.startsWith('-')) return null;
  return [...command.options, ...program.options].find((option) => isNamed(option, word)) ?? null;
}

const isNamed = ({ long, short }: Option, word: string): boolean => word === long || word === short;

/** By what the placeholder says: `--cwd <dir>`, `<job...>`. */
async function valuesOf(of: Option | Argument, ctx: Context, given: readonly string[]): Promise<Completion> {
  if (of.argChoices) return { candidates: of.argChoices.map((value) => ({ value, about: '' })), besides: 'none' };
  const name = 'flags' in of ? (/[<[]([^\]>.]+)/.exec(of.flags)?.[1] ?? '') : of.name();
  if ('long' in of && of.long === '--agent') return { candidates: await agentNames(ctx), besides: 'none' };
  switch (name) {
    case 'job':
      return { candidates: await jobIds(ctx, given), besides: 'none' };
    case 'dir':
      return { candidates: [], besides: 'dirs' };
    case 'duration':
    case 'number':
      return nothing;
    default:
      return { candidates: [], besides: 'files' };
  }
}

const prefixed = (prefix: string, { candidates, besides }: Completion): Completion => ({
  candidates: candidates.map(({ value, about }) => ({ value: prefix + value, about })),
  besides,
});
