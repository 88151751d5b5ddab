import { Option } from 'commander';
import { EXIT } from '../../../machines/job/exit.ts';
import { entryFile } from '../../jobs/installation.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { DURATION_FORM, parseDuration } from '../durations.ts';
import { UsageError } from '../errors.ts';
import { stopHost, tellStatus } from '../host/ask.ts';
import { runHost } from '../host/run.ts';
import { UNITS, type UnitKind, unitText } from '../host/unit.ts';

interface Flags {
  untilIdle?: string | true;
  status?: boolean;
  stop?: boolean;
  printUnit?: UnitKind | true;
}

const UNTIL_IDLE = '30s';

export const define: Define = (command, run) => {
  command
    .option('--until-idle [duration]', `end by itself when no job has been open for so long (${UNTIL_IDLE})`)
    .option('--status', 'say whether a host of this registry runs, and what it drives')
    .option('--stop', 'end the host of this registry; agents go on')
    .addOption(new Option('--print-unit [kind]', 'print a service unit (default: of this platform)').choices(UNITS))
    .addHelpText(
      'after',
      `${examples(
        'stepward host',
        'stepward host --until-idle 10m',
        'stepward host --status --json',
        'stepward host --stop',
        'stepward host --print-unit systemd   # its first lines say where it goes',
      )}

One host per registry. It drives every open job that no live driver holds, and cleans up after ended ones. SIGTERM or Ctrl-C:
it lets go of its jobs and ends; agents go on, and the next driver takes over. A second signal ends it at once.

Exit codes: 0 ended as asked · 1 the registry went away · 4 another host runs · 64 usage. --status: 0 runs · 1 does not`,
    )
    .action((flags: Flags) => run((ctx) => host(ctx, flags)));
};

async function host(ctx: Context, flags: Flags): Promise<number> {
  onlyOne(flags);
  if (flags.status) return tellStatus(ctx);
  if (flags.stop) return stopHost(ctx);
  if (flags.printUnit) return printUnit(ctx, flags.printUnit);
  return runHost(ctx, { untilIdleMs: flags.untilIdle === undefined ? null : idleMs(flags.untilIdle) });
}

function onlyOne({ untilIdle, status, stop, printUnit }: Flags): void {
  const named = { '--until-idle': untilIdle, '--status': status, '--stop': stop, '--print-unit': printUnit };
  const given = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length > 1) {
    throw new UsageError({ option: given.join(', '), problem: 'exclude each other', allowed: 'one of them' });
  }
}

function idleMs(given: string | true): number {
  const value = given === true ? UNTIL_IDLE : given;
  const ms = parseDuration(value);
  if (ms !== null) return ms;
  throw new UsageError({ option: '--until-idle', value, problem: 'is not a duration', allowed: DURATION_FORM });
}

async function printUnit({ out, project, registryPlace }: Context, given: UnitKind | true): Promise<number> {
  const kind = given === true ? (process.platform === 'darwin' ? 'launchd' : 'systemd') : given;
  const { root, cwd } = await project();
  const { dir } = await registryPlace();
  const unit = unitText(kind, { node: process.execPath, entry: entryFile(), project: root ?? cwd, registry: dir });
  if (out.json) out.object({ kind, unit });
  else out.print(unit.trimEnd());
  return EXIT.ok;
}
