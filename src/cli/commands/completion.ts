import { Argument } from 'commander';
import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts';

export const define: Define = (command, run) => {
  command
    .addArgument(new Argument('<shell>', 'which shell it is for').choices(SHELLS))
    .addHelpText(
      'after',
      `${examples(
        'source <(stepward completion bash)',
        'stepward completion zsh > ~/.zfunc/_stepward',
        'stepward completion fish > ~/.config/fish/completions/stepward.fish',
      )}

Commands, options, agents of the config and jobs of the registry are completed as they are at that moment.`,
    )
    .action((shell: Shell) =>
      run(async ({ out }) => {
        if (out.json) out.object({ shell, script: SCRIPTS[shell] });
        else out.print(SCRIPTS[shell].trimEnd());
        return EXIT.ok;
      }),
    );
};
