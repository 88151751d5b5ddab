import { EXIT } from '../../../machines/job/exit.ts';
import { OWN_TARGET } from '../../agents/session.ts';
import type { Engine } from '../../jobs/engine.ts';
import type { JobSpec } from '../../jobs/spec.ts';
import type { Row } from '../../kernel/ports.ts';
import { quote } from '../../transports/quote.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { driveToEnd } from '../drive.ts';
import { formatDuration } from '../durations.ts';
import { UsageError } from '../errors.ts';
import { handOver } from '../host/hand-over.ts';
import { type OrderFlags, placeOrder } from '../order.ts';
import { statusObject } from '../status.ts';

interface Flags extends OrderFlags {
  dryRun?: boolean;
  detach?: boolean;
}

export const define: Define = (command, run) => {
  command
    .argument('[-]', 'read the task from standard input')
    .usage('--agent NAME (--prompt TEXT | --brief FILE | -) [options] [-- COMMAND ARG…]')
    .option('--agent <name>', 'an agent of the config, or a kind: command, human (STEPWARD_AGENT)')
    .option('--prompt <text>', 'the task')
    .option('--brief <file>', 'the task, from a file')
    .option('--cwd <dir>', 'where the agent works (default: here)')
    .option('--timeout <duration>', 'from the delivery to the end (default: 1h; STEPWARD_TIMEOUT)')
    .option('--idle-timeout <duration>', 'silence after which the job fails (default: 10m; STEPWARD_IDLE_TIMEOUT)')
    .option(
      '--permission-timeout <duration>',
      'how long a question may stay open (default: 30m; STEPWARD_PERMISSION_TIMEOUT)',
    )
    .option(
      '--queue-timeout <duration>',
      'how long to wait for the session (default: the timeout; STEPWARD_QUEUE_TIMEOUT)',
    )
    .option('--session <transport:target>', 'a session that this job shares with others (STEPWARD_SESSION)')
    .option('--detach', 'leave it to a host (one is started if none runs), print the id and return')
    .option('--dry-run', 'print what would happen; write and start nothing')
    .addHelpText(
      'after',
      `${examples(
        'stepward delegate --agent worker --prompt "Fix the flaky login test"',
        'stepward delegate --agent worker --brief task.md --cwd ../app --timeout 2h',
        'git diff | stepward delegate --agent worker -',
        'stepward delegate --agent command --prompt "Fix it" -- node agent.js {brief}',
        'stepward delegate --agent human --prompt "Look at the logo" --json',
        'stepward delegate --agent worker --brief task.md --detach',
      )}

With --detach: 0 a driver has it · 4 nobody drives it yet, it stays queued · 64 usage.
Exit codes: 0 completed · 1 failed or cancelled · 2 timed out · 3 the agent has only the bus, and that was away · 4 refused · 5 nothing was sent, may be sent again · 64 usage · 130 interrupted`,
    )
    .action((input: string | undefined, flags: Flags) =>
      run(async (ctx) => {
        if (flags.detach && flags.dryRun) throw exclusive('--detach', '--dry-run');
        const spec = await placeOrder(ctx, input, flags);
        if (flags.dryRun) return preview(ctx, spec);
        const engine = await ctx.engine();
        const row = await engine.register(spec, { mine: !flags.detach });
        ctx.out.say(`registered job: ${row.id}`);
        if (flags.detach) return detach(ctx, engine, row);
        await engine.driver.adopt(row.id);
        return driveToEnd(ctx, engine, [row.id]);
      }),
    );
};

const exclusive = (one: string, other: string) =>
  new UsageError({ option: `${one}, ${other}`, problem: 'exclude each other', allowed: `${one} or ${other}` });

/** 0: somebody drives it, or it is over already. 4: the row stays queued. */
async function detach(ctx: Context, { registry }: Engine, { id }: Row): Promise<number> {
  const { out } = ctx;
  const handed = await handOver(ctx, registry, id);
  const row = await registry.load(id);
  if (out.json && row) out.object(statusObject(row, await registry.timers(id)));
  else out.print(id);
  if (handed.driven) {
    if (handed.by) out.say(`driven by ${handed.by}`);
    out.say(`follow: stepward watch ${id}`);
    out.say(`wait: stepward wait ${id}`);
    return EXIT.ok;
  }
  out.say(`nobody drives ${id} yet, it stays queued: ${handed.why}`);
  out.say('  to see what is wrong: stepward host');
  out.say(`  to drive it here:     stepward resume ${id}`);
  return EXIT.refused;
}

async function preview(ctx: Context, spec: JobSpec): Promise<number> {
  const { out } = ctx;
  const { agent, kind, transport, target, cwd, title, argv, env, limits } = spec;
  const session = target === OWN_TARGET ? `${transport}, one of its own` : `${transport}:${target}`;
  const registry = await ctx.registryPlace();
  if (out.json) {
    const { deadline: job, idle, permission, queue } = limits;
    const limitsMs = { job, idle, permission, queue };
    out.object({ dryRun: true, agent, kind, session, cwd, title, argv, env: Object.keys(env), limitsMs, registry });
    return EXIT.ok;
  }
  const span = (ms: number) => formatDuration(ms, true);
  out.print(`agent     ${agent} (kind ${kind})`);
  out.print(`session   ${session}`);
  out.print(`start     ${argv.length > 0 ? argv.map(quote).join(' ') : 'nothing: a person reads the brief'}`);
  out.print(`cwd       ${cwd}`);
  out.print(`task      ${title}`);
  out.print(
    `limits    job ${span(limits.deadline)}, idle ${span(limits.idle)}, permission ${span(limits.permission)}, queue ${span(limits.queue)}`,
  );
  out.print(`registry  ${registry.dir} (${registry.source})`);
  out.say('dry run: nothing was written, nothing was started');
  return EXIT.ok;
}
