// `stepward` alone: what is open, what ended last, and the next command for each.
import { EXIT } from '../../../machines/job/exit.ts';
import type { Define } from '../command.ts';
import { listRows, printRows, tellNoRegistry } from '../list.ts';
import { statusObject } from '../status.ts';

const ENDED_SHOWN = 10;

export const define: Define = (command, run) => {
  command.action(() =>
    run(async (ctx) => {
      const { out } = ctx;
      const registry = await ctx.registry();
      const told = !registry && (await tellNoRegistry(ctx));
      const all = registry ? await listRows(registry, true) : [];
      const opened = all.filter(({ open }) => open);
      const ended = all.filter(({ open }) => !open).slice(-ENDED_SHOWN);
      const rows = [...opened, ...ended];
      if (out.json) {
        for (const { row, timers, next } of rows)
          out.object({ ...statusObject(row, timers), next: next?.command ?? null });
      } else if (registry && rows.length > 0) printRows(out, registry.now(), rows, true);
      else {
        if (!told) out.print(`no jobs yet in ${(await ctx.registryPlace()).dir}`);
        out.print('  stepward delegate --help   give the first one');
        out.print('  stepward doctor            see whether everything is there');
      }
      return EXIT.ok;
    }),
  );
};
