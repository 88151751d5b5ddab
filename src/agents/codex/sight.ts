// Codex in a terminal.
import { makeSight } from '../live/sight.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

export const codexSight = makeSight({
  kind: 'codex',
  program: {
    names: ['codex'],
    packages: ['@openai/codex'],
    notWith: [
      'exec',
      'e',
      'app-server',
      'mcp',
      'mcp-server',
      'login',
      'logout',
      'queue',
      'apply',
      '--version',
      '--help',
    ],
  },
  read,
  record,
  position,
  received,
  interruptKeys: ['Escape'],
});
