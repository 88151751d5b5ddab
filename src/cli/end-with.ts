// The end of the process, by what a command's promise says.

import { leave } from './hang-up.ts';

export function endWith(ending: Promise<number>): void {
  // If everything is over before it is, Node would end with 0, which says "completed".
  process.exitCode = 1;
  process.once('beforeExit', () => process.stderr.write('error: ended without a result\n'));
  ending.then(
    // exit() and not exitCode: a handle that somebody forgot must not keep a finished command from ending.
    (code) => leave(code),
    (error: unknown) => {
      process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
      leave(1);
    },
  );
}
