import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import { listRows, printRows, tellNoRegistry } from '../list.ts';
import { statusObject } from '../status.ts';

export const define: Define = (command, run) => {
  command
    .option('-a, --all', 'ended jobs, too')
    .addHelpText('after', examples('stepward ps', 'stepward ps --all', 'stepward ps --json | jq -r .id'))
    .action(({ all = false }: { all?: boolean }) =>
      run(async (ctx) => {
        const { out } = ctx;
        const registry = await ctx.registry();
        if (!registry && (await tellNoRegistry(ctx))) return EXIT.ok;
        const rows = registry ? await listRows(registry, all) : [];
        if (out.json) {
          for (const { row, timers } of rows) out.object(statusObject(row, timers));
        } else if (registry && rows.length > 0) printRows(out, registry.now(), rows);
        else out.say(all ? 'no jobs yet: stepward delegate --help' : 'no open jobs (ended ones: stepward ps --all)');
        return EXIT.ok;
      }),
    );
};
