// Agents in terminals. Each action is a command of its own below this one.
import { type ClassifyFlags, classify } from '../agents/classify.ts';
import { type Define, examples } from '../command.ts';
import { UsageError } from '../errors.ts';
import { suggestion } from '../nearest.ts';

const ACTIONS = ['classify'];

export const define: Define = (command, run) => {
  command
    .usage('ACTION [options]')
    .argument('[words...]')
    .addHelpText(
      'after',
      examples(
        'tmux capture-pane -p -t %3 | stepward agents classify --kind claude --screen -',
        'stepward agents classify --kind codex --screen screen.txt --json | jq -r .state',
      ),
    )
    .action((words: string[]) =>
      run(async () => {
        const allowed = ACTIONS.join(', ');
        const [word] = words;
        if (word === undefined) throw new UsageError({ option: 'ACTION', problem: 'is missing', allowed });
        const problem = `is not known${suggestion(word, ACTIONS)}`;
        throw new UsageError({ option: 'ACTION', value: word, problem, allowed });
      }),
    );
  command
    .command('classify')
    .summary('say what a screen shows: idle, draft, working, blocked and so on, and why')
    .description('Say what a screen shows: idle, draft, working, blocked and so on, and why.')
    .option('--kind <kind>', 'which agent it is: claude, codex, opencode')
    .option('--screen <file>', 'the visible screen as text; - for standard input')
    .option('--title <text>', 'the title of the pane, where it is known')
    .addHelpText(
      'after',
      `
In doubt it says unknown, and never idle.

Examples:
  $ tmux capture-pane -p -t %3 | stepward agents classify --kind claude --screen -
  $ stepward agents classify --kind codex --screen screen.txt --title "$(tmux display -p -t %3 '#{pane_title}')" --json`,
    )
    .action((flags: ClassifyFlags) => run((ctx) => classify(flags, ctx)));
};
