// Which processes are agents.
import { describe, expect, it } from 'vitest';
import { LIVE_KINDS, type LiveKind, SIGHTS } from '../../../src/agents/live/sights.ts';

const AGENTS: Record<LiveKind, string[][]> = {
  claude: [
    ['claude'],
    ['/usr/local/bin/claude', '--permission-mode', 'default'],
    ['/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe', '--resume', 'abc'],
    ['node', '--no-warnings', '/x/node_modules/@anthropic-ai/claude-code/cli.js'],
    ['node', '/x/node_modules/.bin/claude'],
  ],
  codex: [
    ['codex'],
    ['node', '/x/node_modules/.bin/codex', '--no-daemon'],
    ['/usr/bin/node', '/x/node_modules/@openai/codex/bin/codex.js'],
    ['/x/node_modules/@openai/codex-linux-x64/vendor/musl/bin/codex', '-a', 'on-request', 'resume'],
  ],
  opencode: [
    ['opencode'],
    ['/x/node_modules/opencode-ai/bin/opencode.exe', '--port', '4096'],
    ['/x/.bin/opencode', '/x'],
  ],
};

const OTHERS: string[][] = [
  [],
  [''],
  ['bash'],
  ['-bash'],
  ['node'],
  ['node', '-e', 'claude'],
  ['vim', 'claude'],
  ['less', '/x/node_modules/@openai/codex/README.md'],
  ['node', '/x/codex/server.js'],
  ['ssh', 'host', 'opencode'],
  ['claude', '-p', 'x'],
  ['claude', '--print'],
  ['codex', 'exec', '--json', 'x'],
  ['node', '/x/node_modules/.bin/codex', 'app-server'],
  ['opencode', 'serve'],
  ['opencode', 'run', 'x'],
  ['claudette'],
  ['/x/claude/bin/other'],
];

describe.each(LIVE_KINDS)('%s', (kind) => {
  it.each(AGENTS[kind].map((argv) => [argv.join(' '), argv] as const))('is %s', (_, argv) => {
    for (const other of LIVE_KINDS) expect(SIGHTS[other].isAgent({ argv })).toBe(other === kind);
  });

  it.each(OTHERS.map((argv) => [argv.join(' '), argv] as const))('is not %s', (_, argv) => {
    expect(SIGHTS[kind].isAgent({ argv })).toBe(false);
  });
});
