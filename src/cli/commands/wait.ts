import { type Define, examples } from '../command.ts';
import { resolveJobs } from '../ids.ts';
import { waitForJobs } from '../waiters.ts';

export const define: Define = (command, run) => {
  command
    .argument('<job...>', 'ids, unique prefixes, or @last')
    .addHelpText(
      'after',
      `${examples('stepward wait @last', 'stepward wait k7f3 m2qx --json')}

Exit code: that of the job, of the worst one if there are several. 4: nobody has driven it for 15 s, so that waiting could last
for ever; stepward resume drives it.`,
    )
    .action((texts: string[]) =>
      run(async (ctx) => {
        const jobs = await resolveJobs(await ctx.registry(), texts);
        return waitForJobs(ctx, (await ctx.registry())!, jobs);
      }),
    );
};
