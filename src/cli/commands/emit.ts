// For `stepward help emit` and the list of commands; main.ts takes the short way to the command itself.
import type { Define } from '../command.ts';
import { emitMain } from '../emit.ts';

export const define: Define = (command, run) => {
  command
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action((words: string[]) => run(() => emitMain(words)));
};
