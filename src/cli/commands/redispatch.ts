import { ask } from '../asking.ts';
import { type Define, examples } from '../command.ts';
import { UsageError } from '../errors.ts';
import { resolveJob } from '../ids.ts';

export const define: Define = (command, run) => {
  command
    .argument('<job>', 'id, unique prefix, or @last')
    .option('--attempt <number>', 'the new attempt; higher than the present one (default: the next)')
    .option('--detail <text>', 'why; shown in the log')
    .addHelpText(
      'after',
      `${examples('stepward redispatch @last && stepward resume @last', 'stepward redispatch k7f3 --attempt 3')}

Exit codes: 0 the attempt begins · 4 refused: still open, not cleaned up, or a number that is not higher · 64 usage`,
    )
    .action((text: string, { attempt, detail }: { attempt?: string; detail?: string }) =>
      run(async (ctx) => {
        const wanted = attempt === undefined ? null : numberOf(attempt);
        const registry = await ctx.registry();
        const job = await resolveJob(registry, text);
        const present = (await registry!.load(job))?.attempt ?? 0;
        const event = { type: 'redispatch' as const, attempt: wanted ?? present + 1 };
        return ask(ctx, job, { ...event, ...(detail !== undefined && { detail }) });
      }),
    );
};

const HIGHEST = 1_000_000;

function numberOf(value: string): number {
  const number = /^\d{1,7}$/.test(value) ? Number(value) : 0;
  if (number >= 1 && number <= HIGHEST) return number;
  const allowed = `a whole number from 1 to ${HIGHEST}`;
  throw new UsageError({ option: '--attempt', value, problem: 'is not the number of an attempt', allowed });
}
