// `stepward agents classify`: why Stepward thinks what it thinks of a screen.
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { EXIT } from '../../../machines/job/exit.ts';
import { LIVE_KINDS, sightOf } from '../../agents/live/sights.ts';
import type { Sight } from '../../transports/sight.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { LONGEST_BYTES, readNamedFile, readStream } from '../input.ts';
import type { Io } from '../io.ts';
import { suggestion } from '../nearest.ts';
import { plain } from '../text.ts';

export interface ClassifyFlags {
  kind?: string | undefined;
  screen?: string | undefined;
  title?: string | undefined;
}

const SCREENS = 'a text file with the visible screen (tmux capture-pane -p), or - for standard input';

/** Throws UsageError. */
export async function classify(flags: ClassifyFlags, { io, out }: Context): Promise<number> {
  const sight = sightFor(flags.kind);
  const text = await screenOf(flags.screen, io);
  const { state, because } = sight.read({ text, title: flags.title ?? '' });
  const reason = plain(because);
  if (out.json) out.object({ state, because: reason });
  else out.print(`${state}: ${reason}`);
  return EXIT.ok;
}

function sightFor(kind: string | undefined): Sight {
  const allowed = LIVE_KINDS.join(', ');
  if (kind === undefined) throw new UsageError({ option: '--kind', problem: 'is missing', allowed });
  const sight = sightOf(kind);
  if (sight) return sight;
  const problem = `is not a kind whose screen can be read${suggestion(kind, LIVE_KINDS)}`;
  throw new UsageError({ option: '--kind', value: kind, problem, allowed });
}

async function screenOf(file: string | undefined, io: Io): Promise<string> {
  if (file === undefined) throw new UsageError({ option: '--screen', problem: 'is missing', allowed: SCREENS });
  const bad = (problem: string) => new UsageError({ option: '--screen', value: file, problem, allowed: SCREENS });
  const tooLong = () => bad(`is too long (more than ${LONGEST_BYTES} bytes)`);
  const bytes = file === '-' ? await readStream(io.stdin, tooLong) : await readNamedFile(resolve(io.cwd, file), bad);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // `capture-pane -e` keeps colours; they are no part of what the screen says.
    return stripVTControlCharacters(text).replaceAll('\r\n', '\n');
  } catch {
    throw bad('is not UTF-8 text');
  }
}
