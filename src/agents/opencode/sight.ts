// OpenCode in a terminal.
import type { Sight } from '../../transports/sight.ts';
import { encodePrompt } from '../live/encode.ts';
import { runs } from '../live/program.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

const PROGRAM = Object.freeze({
  names: ['opencode'],
  packages: ['opencode-ai'],
  notWith: ['run', 'serve', 'web', 'acp', 'auth', 'models', 'upgrade', 'stats', 'export', '--version', '--help'],
});

export const opencodeSight: Sight = Object.freeze({
  kind: 'opencode',
  isAgent: ({ argv }) => runs(argv, PROGRAM),
  read,
  record,
  position,
  received,
  encode: (text) => encodePrompt(text),
  /** The first one only asks whether it is meant. */
  interruptKeys: Object.freeze(['Escape', 'Escape']),
} satisfies Sight);
