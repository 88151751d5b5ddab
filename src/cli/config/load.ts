// Reads the one config file that counts. Reading is not running, except for .ts, which is code by nature.
import { readFile, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { quoted, UsageError } from '../errors.ts';
import { configError } from './problems.ts';
import { Config } from './schema.ts';

/** Never throws but UsageError. `file`: absolute, one of CONFIG_NAMES. */
export async function loadConfig(file: string): Promise<Config> {
  try {
    return await checked(file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // What was read cannot even be looked at: it contains itself, or is an object whose keys throw.
    const allowed = 'texts, lists and mappings, none of which contains itself';
    throw new UsageError({ option: 'config', value: file, problem: `is not plain data (${said(error)})`, allowed });
  }
}

async function checked(file: string): Promise<Config> {
  const name = basename(file);
  const input = (await read(file)) ?? {};
  const result = Config.safeParse(input);
  if (result.success) return result.data;
  // The first one: most later issues are echoes of it, and a person mends one at a time.
  const issue = result.error.issues[0];
  throw issue ? configError(name, issue, input) : result.error;
}

async function read(file: string): Promise<unknown> {
  const bad = (problem: string, allowed: string) => new UsageError({ option: 'config', value: file, problem, allowed });
  const kind = await stat(file).catch((error) => {
    throw bad(`cannot be read (${said(error)})`, 'a readable file');
  });
  if (!kind.isFile()) throw bad('cannot be read (not a regular file)', 'a readable file');
  if (extname(file) === '.ts') {
    try {
      const { createJiti } = await import('jiti');
      // No cache on disk: a config must not leave files behind.
      return await createJiti(import.meta.url, { fsCache: false }).import(file, { default: true });
    } catch (error) {
      throw bad(`could not be run (${said(error)})`, 'a module whose default export is the config');
    }
  }
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw bad(`cannot be read (${said(error)})`, 'a readable file');
  }
  try {
    return extname(file) === '.json' ? JSON.parse(text) : parseYaml(text, { prettyErrors: true });
  } catch (error) {
    const format = extname(file) === '.json' ? 'JSON' : 'YAML';
    throw bad(`is not valid ${format} (${said(error)})`, `valid ${format}, as stepward init writes it`);
  }
}

/** Code of the user's threw it, so it can be anything, down to an object that cannot be made a text. */
function said(error: unknown): string {
  try {
    return firstLine(error instanceof Error ? String(error.message) : quoted(String(error))) || 'no reason given';
  } catch {
    return 'no reason given';
  }
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').replace(/:$/, '');
