// Which files are configs. Apart from load.ts, so that looking for one loads neither zod nor YAML.
import { join } from 'node:path';
import { UsageError } from '../errors.ts';

export const CONFIG_NAMES = Object.freeze(
  ['yaml', 'yml', 'json', 'ts'].map((extension) => `stepward.config.${extension}`),
);

/** The config file of one directory. Two of them are an error: which one counts would be a guess. */
export function theConfigOf(dir: string, names: readonly string[]): string | null {
  const found = CONFIG_NAMES.filter((name) => names.includes(name));
  if (found.length > 1) {
    const problem = `holds ${found.join(' and ')}, and which of them counts would be a guess`;
    throw new UsageError({ option: 'config', value: dir, problem, allowed: 'one config file in a directory' });
  }
  return found[0] ? join(dir, found[0]) : null;
}
