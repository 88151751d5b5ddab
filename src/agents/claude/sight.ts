// Claude Code in a terminal.
import { makeSight } from '../live/sight.ts';
import { position, received, record } from './records.ts';
import { read } from './screen.ts';

export const claudeSight = makeSight({
  kind: 'claude',
  program: {
    names: ['claude'],
    packages: ['@anthropic-ai/claude-code'],
    notWith: ['-p', '--print', 'mcp', 'update', 'doctor', 'config', 'install', 'setup-token', '--version', '--help'],
  },
  read,
  record,
  position,
  received,
  habits: { tab: 4 },
  interruptKeys: ['Escape'],
});
