import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import { theConfigOf } from '../config/names.ts';
import { STARTER } from '../config/starter.ts';
import { UsageError } from '../errors.ts';

const NAME = 'stepward.config.yaml';

export const define: Define = (command, run) => {
  command
    .addHelpText('after', `${examples('stepward init')}\n\nWrites ${NAME} into this directory, and nothing else.`)
    .action(() =>
      run(async ({ io, out }) => {
        const there = theConfigOf(io.cwd, await readdir(io.cwd));
        const file = join(io.cwd, NAME);
        if (there) throw taken(there);
        try {
          // Never over a file that appeared in between.
          await writeFile(file, STARTER, { flag: 'wx' });
        } catch (error) {
          throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? taken(file) : error;
        }
        if (out.json) out.object({ config: file });
        else out.print(file);
        out.say('every line is optional and commented out; check it with: stepward doctor');
        return EXIT.ok;
      }),
    );
};

const taken = (file: string) =>
  new UsageError({
    option: 'init',
    value: file,
    problem: 'is there already and is not overwritten',
    allowed: 'a directory without a config',
  });
