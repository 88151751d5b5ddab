import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/transports/environment.ts';

describe('childEnvironment', () => {
  it('lets through what is on the list, and the caller’s own, which wins', () => {
    const leaks = {
      HERDR_PANE: '1',
      TMUX: '1',
      TMUX_PANE: '1',
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: '1',
      CODEX_X: '1',
    };
    const more = {
      NODE_OPTIONS: '1',
      SSH_AUTH_SOCK: '1',
      OPENAI_API_KEY: '1',
      LD_PRELOAD: '1',
      STEPWARD_JOB: '1',
      LCX: '1',
    };
    const kept = { HOME: '/h', PATH: '/p', LC_ALL: 'C', XDG_RUNTIME_DIR: '/r', https_proxy: 'p', SSL_CERT_FILE: 'f' };
    expect(childEnvironment({ ...leaks, ...more, ...kept, TZ: undefined }, { PATH: '/mine', KEY: 'k' })).toEqual({
      ...kept,
      PATH: '/mine',
      KEY: 'k',
    });
  });
});
