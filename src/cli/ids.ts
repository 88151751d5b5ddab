// Jobs as people name them: any unique prefix of an id, or `@last`.
import type { Registry } from '../kernel/ports.ts';
import { UsageError } from './errors.ts';

const LISTED = 8;
export const ID_FORM = 'the id of a job, a unique prefix of one, or @last (see stepward ps --all)';

/** Throws UsageError: unknown, ambiguous (then it lists the candidates), or no jobs at all. `registry` null: there is none. */
export async function resolveJob(registry: Registry | null, text: string): Promise<string> {
  const bad = (problem: string) => new UsageError({ option: 'JOB', value: text, problem, allowed: ID_FORM });
  if (!registry) throw bad('is not known: this project has no jobs yet');
  if (text === '@last') {
    const newest = await registry.newestId();
    if (newest === undefined) throw bad('names nothing: this project has no jobs yet');
    return newest;
  }
  if (text === '') throw bad('names nothing');
  const found = await registry.idsWithPrefix(text, LISTED + 1);
  if (found.includes(text)) return text;
  if (found.length === 0) throw bad('is not a job of this registry');
  if (found.length === 1) return found[0]!;
  const more = found.length > LISTED ? ', …' : '';
  throw bad(`is ambiguous (${found.slice(0, LISTED).join(', ')}${more})`);
}

export async function resolveJobs(registry: Registry | null, texts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await resolveJob(registry, text));
  return [...new Set(ids)];
}
