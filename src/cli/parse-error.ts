// commander's errors in the form of all our errors: the option, the value, what is allowed.
import type { Command, CommanderError } from 'commander';
import { UsageError } from './errors.ts';
import { suggestion } from './nearest.ts';

export function parseError(error: CommanderError, command: Command): UsageError {
  const options = optionsOf(command);
  const named = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption': {
      const [option = named, value] = named.split('=');
      if (options.includes(option))
        return new UsageError({ option, value, problem: 'is not expected', allowed: option });
      const problem = `is not an option${suggestion(option, options)}`;
      return new UsageError({ option, problem, allowed: options.join(', ') });
    }
    case 'commander.optionMissingArgument': {
      const [option = named, value = 'a value'] = named.split(' ').filter((word) => !/^-\w,$/.test(word));
      return new UsageError({ option, problem: 'has no value', allowed: `${option} ${value}` });
    }
    case 'commander.invalidArgument': {
      // "option '--kind [name]' argument 'x' is invalid. Allowed choices are a, b."
      const [, value] = /argument (?:value )?'([^']*)' is invalid/.exec(error.message) ?? [];
      const name = /for argument '([^']*)'/.exec(error.message)?.[1]?.toUpperCase() ?? named.split(' ')[0] ?? named;
      const allowed = /choices are (.*?)\.?$/.exec(error.message)?.[1] ?? usageOf(command);
      return new UsageError({ option: name, value, problem: 'is not known', allowed });
    }
    case 'commander.missingArgument':
      return new UsageError({ option: named.toUpperCase(), problem: 'is missing', allowed: usageOf(command) });
    case 'commander.excessArguments':
      return new UsageError({ option: 'arguments', problem: 'are too many', allowed: usageOf(command) });
    default:
      return new UsageError({ option: command.name(), problem: plain(error.message), allowed: usageOf(command) });
  }
}

function optionsOf(command: Command): string[] {
  const all = [...command.options, ...(command.parent?.options ?? [])];
  return [...new Set([...all.map(({ long, short }) => long ?? short ?? ''), '--help'])];
}

const usageOf = (command: Command): string =>
  [command.parent?.name(), command.name(), command.usage()].filter(Boolean).join(' ');

const plain = (message: string): string =>
  message
    .replace(/^error: /, '')
    .split('\n')
    .join(' ');
