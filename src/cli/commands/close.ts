import { CLOSE_REQUESTS, type CloseRequest } from '../../../machines/job/vocabulary.ts';
import { ask } from '../asking.ts';
import { type Define, examples } from '../command.ts';
import { RefusedError, UsageError } from '../errors.ts';
import { resolveJob } from '../ids.ts';
import { suggestion } from '../nearest.ts';
import { tokenOf } from '../token.ts';

interface Flags {
  request?: string;
  detail?: string;
  expectToken?: string;
}

export const define: Define = (command, run) => {
  command
    .argument('<job>', 'id, unique prefix, or @last')
    .option('--request <name>', CLOSE_REQUESTS.join(' or '))
    .option('--detail <text>', 'why; shown in the log')
    .option('--expect-token <token>', 'only if the job is still at this attempt (see status --json)')
    .addHelpText(
      'after',
      `${examples(
        'stepward close k7f3 --request cancelled --detail session_busy',
        'stepward close k7f3 --request deadline_timeout --expect-token k7f3.1',
      )}

Exit codes: 0 done, or the job had ended already (a line says so) · 4 refused, or another token · 64 usage`,
    )
    .action((text: string, { request, detail, expectToken }: Flags) =>
      run(async (ctx) => {
        const type = requestOf(request);
        const registry = await ctx.registry();
        const job = await resolveJob(registry, text);
        const row = await registry!.load(job);
        if (row && expectToken !== undefined && tokenOf(row) !== expectToken) {
          throw new RefusedError(
            `--expect-token: "${expectToken}" is not the token of ${job}; allowed: ${tokenOf(row)}`,
          );
        }
        // Checked once more with the decision: a redispatch may come in between.
        const expects = expectToken === undefined ? undefined : row?.attempt;
        return ask(ctx, job, { type, ...(detail !== undefined && { detail }) }, expects);
      }),
    );
};

function requestOf(value: string | undefined): CloseRequest {
  const known = CLOSE_REQUESTS.find((name) => name === value);
  if (known) return known;
  const problem = value === undefined ? 'is missing' : `is not a request${suggestion(value, CLOSE_REQUESTS)}`;
  throw new UsageError({ option: '--request', value, problem, allowed: CLOSE_REQUESTS.join(', ') });
}
