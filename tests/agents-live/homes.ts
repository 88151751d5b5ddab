// A fresh home and a command line for each agent, so that it starts without a dialog, talks to the scripted model only, and reports,
// updates and downloads nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveKind } from './installation.ts';

export interface Wishes {
  home: string;
  cwd: string;
  /** Of the model server, for this agent. */
  url: string;
  /** Ask before a shell command. Default: yes. */
  asks?: boolean;
  /** The folder is trusted, the key approved, the onboarding done. Default: all of it. */
  settled?: 'all' | 'untrusted' | 'unapproved' | 'new';
  /** Of the agent's own server (OpenCode). */
  port?: number;
}

export interface Launch {
  argv: string[];
  env: Record<string, string>;
}

const KEY = 'sk-test';

const QUIET = {
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_BUG_COMMAND: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
  npm_config_fetch_retries: '0',
};

export const prepare = (kind: LiveKind, wishes: Wishes): Launch => {
  mkdirSync(wishes.home, { recursive: true });
  mkdirSync(wishes.cwd, { recursive: true });
  return { claude, codex, opencode }[kind](wishes);
};

function claude({ home, cwd, url, asks = true, settled = 'all' }: Wishes): Launch {
  mkdirSync(join(home, '.claude'));
  const state = {
    hasCompletedOnboarding: settled !== 'new',
    ...(settled !== 'new' && { theme: 'dark' }),
    customApiKeyResponses: { approved: settled === 'unapproved' ? [] : [KEY], rejected: [] },
    projects: { [cwd]: { hasTrustDialogAccepted: settled !== 'untrusted' } },
  };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(state));
  const allowed = asks ? [] : ['--allowedTools', 'Bash'];
  return {
    argv: ['claude', '--permission-mode', 'default', ...allowed],
    env: { ...QUIET, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY },
  };
}

function codex({ home, cwd, url, settled = 'all' }: Wishes): Launch {
  mkdirSync(join(home, '.codex'));
  const lines = [
    'model = "scripted"',
    'model_provider = "local"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[model_providers.local]',
    'name = "local"',
    `base_url = "${url}/v1"`,
    'env_key = "LOCAL_KEY"',
    'wire_api = "responses"',
    'request_max_retries = 2',
    'stream_max_retries = 2',
    ...(settled === 'untrusted' ? [] : [`[projects."${cwd}"]`, 'trust_level = "trusted"']),
  ];
  writeFileSync(join(home, '.codex', 'config.toml'), `${lines.join('\n')}\n`);
  // Without --no-daemon it leaves a daemon behind, and a copy of itself in the home.
  return {
    argv: ['codex', '--no-daemon', '-a', 'on-request', '-s', 'workspace-write'],
    env: { ...QUIET, LOCAL_KEY: KEY },
  };
}

function opencode({ cwd, url, asks = true, port }: Wishes): Launch {
  const config = {
    model: 'local/scripted',
    small_model: 'local/scripted',
    enabled_providers: ['local'],
    provider: {
      local: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models: { scripted: { limit: { context: 100_000, output: 10_000 } } },
      },
    },
    permission: { bash: asks ? 'ask' : 'allow' },
  };
  writeFileSync(join(cwd, 'opencode.json'), JSON.stringify(config));
  return { argv: ['opencode', ...(port ? ['--port', String(port), '--hostname', '127.0.0.1'] : [])], env: QUIET };
}
