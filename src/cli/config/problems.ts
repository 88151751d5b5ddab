// zod's issues as sentences: the path inside the config, the value, what is allowed.
import type { z } from 'zod';
import { UsageError } from '../errors.ts';
import { suggestion } from '../nearest.ts';
import { keysAt, type Problem } from './schema.ts';

/** What is called wrong at paths where "is not one of" would not say it. */
const NOUNS: Readonly<Record<string, string>> = Object.freeze({
  kind: 'is not a known kind',
  transport: 'is not a known transport',
  role: 'is not a role',
});

export function configError(file: string, issue: z.core.$ZodIssue, input: unknown): UsageError {
  const path = issue.path.map(String).join('.');
  const value = shown(at(input, issue.path));
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const allowed = keysAt(issue.path);
    const where = [...issue.path.map(String), key].join('.');
    const problem = `is not a known key${suggestion(key, allowed)}`;
    return new UsageError({ option: `${file}: ${where}`, value: key, problem, allowed: allowed.join(', ') });
  }
  return new UsageError({ option: path ? `${file}: ${path}` : file, value, ...told(issue, value) });
}

function told(issue: z.core.$ZodIssue, value: string | undefined): Problem {
  const last = String(issue.path.at(-1) ?? '');
  switch (issue.code) {
    case 'custom':
      return issue.params as unknown as Problem;
    case 'invalid_value': {
      const problem = value === undefined ? 'is missing' : (NOUNS[last] ?? 'is not known');
      return { problem, allowed: issue.values.map(String).join(', ') };
    }
    case 'invalid_type': {
      const problem = value === undefined ? 'is missing' : `is not ${article(issue.expected)}`;
      return { problem, allowed: article(issue.expected) };
    }
    case 'too_small':
      return { problem: 'is empty', allowed: `${article(String(issue.origin))} that is not empty` };
    default:
      return { problem: `is not valid (${issue.message})`, allowed: 'see stepward init for every key' };
  }
}

const WORDS: Readonly<Record<string, string>> = Object.freeze({
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
  string: 'a text',
});
const article = (type: string): string => WORDS[type] ?? `a ${type}`;

function at(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return value;
}

const shown = (value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
};
