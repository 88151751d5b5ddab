// Claude Code in a terminal.
import type { Sight } from '../../transports/sight.ts';
import { encodePrompt } from '../live/encode.ts';
import { runs } from '../live/program.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

const PROGRAM = Object.freeze({
  names: ['claude'],
  packages: ['@anthropic-ai/claude-code'],
  notWith: ['-p', '--print', 'mcp', 'update', 'doctor', 'config', 'install', 'setup-token', '--version', '--help'],
});

export const claudeSight: Sight = Object.freeze({
  kind: 'claude',
  isAgent: ({ argv }) => runs(argv, PROGRAM),
  read,
  record,
  position,
  received,
  encode: (text) => encodePrompt(text, { tab: 4 }),
  interruptKeys: Object.freeze(['Escape']),
} satisfies Sight);
