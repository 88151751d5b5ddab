import { EXIT } from '../../../machines/job/exit.ts';
import type { LogRow } from '../../kernel/ports.ts';
import { copyOutput } from '../agent-output.ts';
import { watchChanges } from '../changes.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { holderOf } from '../holder.ts';
import { resolveJob } from '../ids.ts';
import { watchInterrupts } from '../interrupts.ts';
import { logLine } from '../log-line.ts';
import { logAfter } from '../news.ts';
import { isEnded, iso } from '../status.ts';

export const define: Define = (command, run) => {
  command
    .argument('[job]', 'id, unique prefix, or @last', '@last')
    .option('-f, --follow', 'go on until the job has ended')
    .option('--output', 'what the agent printed, instead of what happened')
    .addHelpText(
      'after',
      examples(
        'stepward logs @last',
        'stepward logs k7f3 -f',
        'stepward logs k7f3 --output',
        'stepward logs k7f3 --json | jq .what',
      ),
    )
    .action((text: string, { follow = false, output = false }: { follow?: boolean; output?: boolean }) =>
      run(async (ctx) => {
        const job = await resolveJob(await ctx.registry(), text);
        if (output) return showOutput(ctx, job);
        return show(ctx, job, follow);
      }),
    );
};

async function showOutput(ctx: Context, job: string): Promise<number> {
  const row = await (await ctx.registry())!.load(job);
  const found = row && (await copyOutput((await ctx.registryPlace()).dir, row, ctx.io.stdout));
  if (!found) ctx.out.say(`${job} has no output: nothing was started, or a person works on it`);
  return EXIT.ok;
}

async function show(ctx: Context, job: string, follows: boolean): Promise<number> {
  const { out } = ctx;
  const registry = (await ctx.registry())!;
  const interrupts = watchInterrupts();
  const stop = AbortSignal.any([interrupts.signal, out.unread]);
  const changes = watchChanges(registry);
  let after = 0;
  let warned = false;
  try {
    for (;;) {
      // Asked before the log is read: what is written in between is then shown by this turn or the next one.
      const row = await registry.load(job);
      const over = row ? isEnded(row) && (row.cleanup !== 'open' || !(await holderOf(registry, job))) : true;
      for (const entry of await logAfter(registry, job, after)) {
        after = entry.seq;
        if (out.json) out.object(entryObject(entry));
        else out.print(logLine(entry, out.ink));
      }
      if (!follows || over || out.unread.aborted) return EXIT.ok;
      if (interrupts.signal.aborted) return EXIT.interrupted;
      if (!warned && !(await holderOf(registry, job))) {
        warned = true;
        out.say(`no live driver holds ${job}; to drive it: stepward resume ${job}`);
      }
      await changes.next(stop);
    }
  } finally {
    changes.close();
    interrupts.close();
  }
}

const entryObject = ({ at, ...entry }: LogRow) => ({ at: iso(at), ...entry });
