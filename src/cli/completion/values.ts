// Values that only this project knows: its agents, its jobs. Read, never made.
import { statusOf } from '../../../machines/job/vocabulary.ts';
import { entryOf, knownAgents } from '../../agents/resolve.ts';
import { specOf } from '../../jobs/spec.ts';
import type { Context } from '../context.ts';
import { cut, plain } from '../text.ts';

export interface Candidate {
  value: string;
  /** For people; may be empty. */
  about: string;
}

/** More than anybody reads in a menu; the last ones are at hand. */
const JOBS = 50;
const TITLE = 60;

export async function agentNames(ctx: Context): Promise<Candidate[]> {
  const { agents } = await ctx.config();
  return knownAgents(agents).map((value) => ({ value, about: entryOf(value, agents)?.kind ?? '' }));
}

/** The newest first, `@last` before them, without those that stand in the line already. */
export async function jobIds(ctx: Context, given: readonly string[]): Promise<Candidate[]> {
  const rows = (await (await ctx.registry())?.list({ limit: JOBS })) ?? [];
  const jobs = rows.reverse().map((row) => {
    const title = cut(plain(specOf(row).title), TITLE);
    return { value: row.id, about: `${statusOf(row.phase)}: ${title}` };
  });
  const last = jobs[0] && { value: '@last', about: jobs[0].about };
  return [...(last ? [last] : []), ...jobs].filter(({ value }) => !given.includes(value));
}
