// The command line: names and summaries of all commands, and the one that was asked for, loaded by itself.
import { Command, CommanderError } from 'commander';
import { EXIT } from '../../machines/job/exit.ts';
import type { Define, Run } from './command.ts';
import { type Context, createContext, type Globals } from './context.ts';
import { UsageError } from './errors.ts';
import { failureOf } from './failure.ts';
import type { Io } from './io.ts';
import { suggestion } from './nearest.ts';
import { parseError } from './parse-error.ts';
import { version } from './version.ts';

interface Entry {
  summary: string;
  load(): Promise<{ define: Define }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = Object.freeze({
  delegate: {
    summary: 'give one piece of work to an agent and wait for the truth about it',
    load: () => import('./commands/delegate.ts'),
  },
  ps: { summary: 'list jobs', load: () => import('./commands/ps.ts') },
  status: { summary: 'show one job', load: () => import('./commands/status.ts') },
  logs: { summary: 'show what happened to a job', load: () => import('./commands/logs.ts') },
  explain: { summary: 'why a job is where it is, and what you can do', load: () => import('./commands/explain.ts') },
  watch: { summary: 'watch jobs live', load: () => import('./commands/watch.ts') },
  wait: { summary: 'wait until jobs have ended', load: () => import('./commands/wait.ts') },
  cancel: { summary: 'end a job: cancelled', load: () => import('./commands/cancel.ts') },
  close: { summary: 'ask for the end of a job, as a script does', load: () => import('./commands/close.ts') },
  redispatch: { summary: 'begin a new attempt of an ended job', load: () => import('./commands/redispatch.ts') },
  resume: { summary: 'drive jobs whose driver is gone', load: () => import('./commands/resume.ts') },
  host: { summary: 'drive every job of this project that nobody drives', load: () => import('./commands/host.ts') },
  emit: { summary: 'what an agent runs to report', load: () => import('./commands/emit.ts') },
  report: { summary: 'finalize or check an agent’s report', load: () => import('./commands/report.ts') },
  agents: { summary: 'agents in terminals: what their screens show', load: () => import('./commands/agents.ts') },
  init: { summary: 'write a commented config', load: () => import('./commands/init.ts') },
  completion: { summary: 'print the completion script of a shell', load: () => import('./commands/completion.ts') },
  doctor: { summary: 'check this machine, this project and its agents', load: () => import('./commands/doctor.ts') },
});

/** What the shells' completion scripts run; not a command for people. */
const COMPLETE = '__complete';

async function completeWords(words: readonly string[], io: Io): Promise<number> {
  const { answer } = await import('./completion/answer.ts');
  return answer(words, io, async (typed) => {
    const program = createProgram(io);
    const asked = commandWord(typed);
    await build(program, asked !== null && Object.hasOwn(COMMANDS, asked) ? [asked] : [], null, async () => {});
    return program;
  });
}

/** The exit code. `argv` without node and script. Never throws. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === COMPLETE) return completeWords(argv.slice(1), io);
  const dashes = argv.indexOf('--');
  const own = dashes < 0 ? [...argv] : argv.slice(0, dashes);
  const rest = dashes < 0 ? null : argv.slice(dashes + 1);
  const program = createProgram(io);
  const exits: number[] = [];
  let ctx: Context | null = null;
  const run = async (body: (ctx: Context) => Promise<number>): Promise<void> => {
    ctx = createContext(io, program.opts<Globals>(), rest);
    exits.push(await body(ctx));
  };
  const attempt = async (work: () => Promise<unknown> | undefined): Promise<void> => {
    try {
      await work();
    } catch (error) {
      exits.push(report(error, program, argv, io));
    }
  };
  await attempt(async () => {
    const words = await build(program, own, rest, run);
    await program.parseAsync(words, { from: 'user' });
  });
  await attempt(() => (ctx as Context | null)?.close());
  await (ctx as Context | null)?.out.flush();
  // A command that succeeded and then could not close what it had open has not succeeded.
  return exits.find((exit) => exit !== EXIT.ok) ?? EXIT.ok;
}

function createProgram(io: Io): Command {
  return new Command('stepward')
    .description('Delegates work to coding agents, and tells the truth about it.')
    .option('--registry <dir>', 'where the jobs are kept (default: found from here)')
    .option('--json', 'the result as JSON, on stdout')
    .option('--verbose', 'errors with their stack')
    .version(version, '-V, --version')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Errors are printed by failure.ts, once, for all kinds.
      writeErr: () => {},
    })
    .exitOverride();
}

/** Gives the words to parse. */
async function build(program: Command, argv: readonly string[], rest: string[] | null, run: Run): Promise<string[]> {
  // `help x` is the same as `x --help`.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
  const asked = commandWord(words);
  if (asked !== null && !Object.hasOwn(COMMANDS, asked)) {
    const names = Object.keys(COMMANDS);
    const problem = `is not known${suggestion(asked, names)}`;
    throw new UsageError({ option: 'command', value: asked, problem, allowed: names.join(', ') });
  }
  if (rest !== null && asked !== 'delegate') {
    const allowed = 'stepward delegate … -- COMMAND [ARG…]';
    throw new UsageError({ option: '--', value: rest.join(' '), problem: 'is not for this command', allowed });
  }
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = program
      .command(name)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`);
    if (name === asked) (await load()).define(command, run);
  }
  program.addHelpText('after', ROOT_EXAMPLES);
  if (asked === null) (await import('./commands/overview.ts')).define(program, run);
  return words;
}

/** The first word that is neither a global option nor the value of one. */
function commandWord(words: readonly string[]): string | null {
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--registry') i++;
    else if (!words[i]!.startsWith('-')) return words[i]!;
  }
  return null;
}

const ROOT_EXAMPLES = `
Without a command: an overview of the jobs, each with the command to run next.

Examples:
  $ stepward init
  $ stepward delegate --agent command --prompt "Fix the failing test" -- node agent.js {brief}
  $ stepward logs @last -f
  $ stepward resume`;

function report(error: unknown, program: Command, argv: readonly string[], io: Io): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  const asked = commandWord(argv);
  const command = program.commands.find((known) => known.name() === asked) ?? program;
  const { exit, sentence, stack } = failureOf(error instanceof CommanderError ? parseError(error, command) : error);
  const verbose = argv.includes('--verbose') || io.env.STEPWARD_DEBUG === '1';
  io.stderr.write(`error: ${sentence}\n`);
  if (verbose && stack) io.stderr.write(`${stack}\n`);
  return exit;
}
