// What the agents in terminals have in common: how they are told apart from other programs, and what is typed at them.
import type { Sight } from '../../transports/sight.ts';
import { encodePrompt, type Habits } from './encode.ts';
import { type Program, runs } from './program.ts';

interface Kind extends Omit<Sight, 'isAgent' | 'encode'> {
  program: Program;
  habits?: Habits;
}

export const makeSight = ({ program, habits, ...own }: Kind): Sight =>
  Object.freeze({
    ...own,
    isAgent: ({ argv }) => runs(argv, program),
    encode: (text) => encodePrompt(text, habits),
  } satisfies Sight);
