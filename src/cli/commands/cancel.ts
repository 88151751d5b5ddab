import { ask } from '../asking.ts';
import { type Define, examples } from '../command.ts';
import { resolveJob } from '../ids.ts';

export const define: Define = (command, run) => {
  command
    .argument('<job>', 'id, unique prefix, or @last')
    .option('--detail <text>', 'why; shown in the log')
    .addHelpText(
      'after',
      `${examples('stepward cancel @last', 'stepward cancel k7f3 --detail "wrong branch"')}

A job that has ended already stays as it is (exit 0, and a line that says so).`,
    )
    .action((text: string, { detail }: { detail?: string }) =>
      run(async (ctx) => {
        const job = await resolveJob(await ctx.registry(), text);
        return ask(ctx, job, { type: 'cancelled', ...(detail !== undefined && { detail }) });
      }),
    );
};
