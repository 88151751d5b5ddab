import { EXIT } from '../../../machines/job/exit.ts';
import { specOf } from '../../jobs/spec.ts';
import type { Row } from '../../kernel/ports.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { driveToEnd } from '../drive.ts';
import { holderOf, nameOf, needsDriver } from '../holder.ts';
import { resolveJobs } from '../ids.ts';
import { printResult } from '../result.ts';
import { worst } from '../worst.ts';

export const define: Define = (command, run) => {
  command
    .argument('[job...]', 'ids, unique prefixes, or @last (default: every open job whose driver is gone)')
    .addHelpText(
      'after',
      `${examples('stepward resume', 'stepward resume k7f3')}

Nothing is sent twice: a job whose brief went out is taken up where it is. Exit code: that of the worst job.`,
    )
    .action((texts: string[]) =>
      run(async (ctx) => {
        const registry = await ctx.registry();
        if (texts.length > 0) return resumeNamed(ctx, await resolveJobs(registry, texts));
        const open = (await registry?.list({ open: true })) ?? [];
        if (open.length === 0) return nothing(ctx, 'nothing to resume: no open jobs');
        const engine = await ctx.engine();
        const adopted = await engine.driver.adoptAll();
        if (adopted.length === 0)
          return nothing(ctx, `nothing to resume: live drivers hold all ${open.length} open jobs`);
        for (const job of adopted) tell(ctx, await engine.registry.load(job));
        return driveToEnd(ctx, engine, adopted);
      }),
    );
};

async function resumeNamed(ctx: Context, jobs: string[]): Promise<number> {
  const engine = await ctx.engine();
  const { registry, driver } = engine;
  const mine: string[] = [];
  const codes: number[] = [];
  for (const job of jobs) {
    const row = (await registry.load(job))!;
    if (!needsDriver(row)) codes.push(await printResult(ctx, registry, row));
    else if (await driver.adopt(job)) {
      tell(ctx, row);
      mine.push(job);
    } else {
      const holder = await holderOf(registry, job);
      const who = holder
        ? `${nameOf(holder)} drives it; to wait for its end: stepward wait ${job}`
        : `this build does not know ${row.machine}`;
      ctx.out.say(`${job} is not resumed: ${who}`);
      codes.push(EXIT.refused);
    }
  }
  if (mine.length > 0) codes.push(await driveToEnd(ctx, engine, mine));
  return codes.includes(EXIT.interrupted) ? EXIT.interrupted : worst(codes);
}

function tell({ out }: Context, row: Row | undefined): void {
  if (row) out.say(`resuming ${row.id} (attempt ${row.attempt}, ${row.state}): ${specOf(row).title}`);
}

function nothing({ out }: Context, sentence: string): number {
  out.say(sentence);
  return EXIT.ok;
}
