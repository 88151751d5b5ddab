// One pane on a tmux server of its own, which ends with it. Plain keys and pastes only: what is safe is the transport's to know.
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Screen } from '../../src/transports/sight.ts';

const run = promisify(execFile);

export interface Size {
  columns: number;
  rows: number;
}

export interface Terminal {
  screen(): Promise<Screen>;
  /** The process that the pane started. */
  pid(): Promise<number>;
  isDead(): Promise<boolean>;
  /** tmux's names. */
  keys(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  paste(text: string): Promise<void>;
  resize(size: Size): Promise<void>;
  end(): Promise<void>;
}

export async function openTerminal(o: {
  dir: string;
  cwd: string;
  argv: readonly string[];
  env: Record<string, string>;
  size: Size;
}): Promise<Terminal> {
  const socket = join(o.dir, 'tmux.sock');
  const tmux = async (args: readonly string[], input?: string): Promise<string> => {
    const child = run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: o.env, encoding: 'utf8' });
    // tmux may be gone before it has read anything.
    child.child.stdin?.on('error', () => {});
    child.child.stdin?.end(input);
    return (await child).stdout;
  };
  const { columns, rows } = o.size;
  const window = ['new-session', '-d', '-s', 'live', '-x', String(columns), '-y', String(rows), '-c', o.cwd];
  await tmux([
    ...window,
    '--',
    ...o.argv,
    ';',
    'set-option',
    '-g',
    'remain-on-exit',
    'on',
    ';',
    'set-option',
    '-g',
    'status',
    'off',
    ';',
    'resize-window',
    '-x',
    String(columns),
    '-y',
    String(rows),
  ]);
  const ask = async (format: string) => (await tmux(['display-message', '-p', '-t', 'live', format])).trimEnd();
  const server = Number(await ask('#{pid}'));
  return {
    async screen() {
      const title = await ask('#{pane_title}');
      return { text: (await tmux(['capture-pane', '-p', '-t', 'live'])).replace(/\n$/, ''), title };
    },
    pid: async () => Number(await ask('#{pane_pid}')),
    isDead: async () => (await ask('#{pane_dead}')) === '1',
    keys: async (...keys) => void (await tmux(['send-keys', '-t', 'live', ...keys])),
    type: async (text) => void (await tmux(['send-keys', '-t', 'live', '-l', '--', text])),
    async paste(text) {
      await tmux(['load-buffer', '-b', 'live', '-'], text);
      await tmux(['paste-buffer', '-p', '-r', '-d', '-b', 'live', '-t', 'live']);
    },
    resize: async (size) =>
      void (await tmux(['resize-window', '-t', 'live', '-x', String(size.columns), '-y', String(size.rows)])),
    async end() {
      await tmux(['kill-server']).catch(() => {});
      while (isThere(server)) await new Promise((resolve) => setTimeout(resolve, 20));
      if (existsSync(socket)) rmSync(socket);
    },
  };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
