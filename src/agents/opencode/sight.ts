// OpenCode in a terminal.
import { makeSight } from '../live/sight.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

export const opencodeSight = makeSight({
  kind: 'opencode',
  program: {
    names: ['opencode'],
    packages: ['opencode-ai'],
    notWith: ['run', 'serve', 'web', 'acp', 'auth', 'models', 'upgrade', 'stats', 'export', '--version', '--help'],
  },
  read,
  record,
  position,
  received,
  /** The first one only asks whether it is meant. */
  interruptKeys: ['Escape', 'Escape'],
});
