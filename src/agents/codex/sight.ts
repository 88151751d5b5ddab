// Codex in a terminal.
import type { Sight } from '../../transports/sight.ts';
import { encodePrompt } from '../live/encode.ts';
import { runs } from '../live/program.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

const PROGRAM = Object.freeze({
  names: ['codex'],
  packages: ['@openai/codex'],
  notWith: ['exec', 'e', 'app-server', 'mcp', 'mcp-server', 'login', 'logout', 'queue', 'apply', '--version', '--help'],
});

export const codexSight: Sight = Object.freeze({
  kind: 'codex',
  isAgent: ({ argv }) => runs(argv, PROGRAM),
  read,
  record,
  position,
  received,
  encode: (text) => encodePrompt(text),
  interruptKeys: Object.freeze(['Escape']),
} satisfies Sight);
