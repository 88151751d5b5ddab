import { EXIT } from '../../../machines/job/exit.ts';
import { checkBus } from '../bus-check.ts';
import * as checks from '../checks.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../failure.ts';
import { version } from '../version.ts';

export const define: Define = (command, run) => {
  command
    .addHelpText(
      'after',
      `${examples('stepward doctor', 'stepward doctor --json')}\n\nExit codes: 0 all well · 1 something is missing`,
    )
    .action(() =>
      run(async (ctx) => {
        const { out } = ctx;
        const found = await examine(ctx);
        const ok = found.every((check) => check.ok);
        if (out.json) out.object({ version, ok, checks: found });
        else {
          out.print(`stepward ${version}`);
          const width = Math.max(...found.map(({ name }) => name.length));
          for (const check of found) {
            const mark = check.ok ? out.ink.green('ok     ') : out.ink.red('problem');
            out.print(`${mark}  ${check.name.padEnd(width)}  ${check.seen}`);
          }
        }
        return ok ? EXIT.ok : EXIT.failed;
      }),
    );
};

const { node, sqlite, git, config, registry, agents, look, rows } = checks;
const ALL = Object.freeze({ node, sqlite, git, config, registry, bus: checkBus, agents, look, jobs: rows });

/** A check that throws is a finding, not the end of the examination. */
async function examine(ctx: Context): Promise<checks.Check[]> {
  const found: checks.Check[] = [];
  for (const [name, check] of Object.entries(ALL)) {
    try {
      found.push(...[await check(ctx)].flat());
    } catch (error) {
      const { sentence } = failureOf(error);
      // One mistake in the config would be told by everything that reads it.
      const first = found.find(({ ok, seen }) => !ok && seen === sentence);
      found.push({ name, ok: false, seen: first ? `not looked at: see ${first.name}` : sentence });
    }
  }
  return found;
}
