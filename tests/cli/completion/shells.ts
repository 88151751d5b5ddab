// The three shells as their user has them: on a terminal (util-linux `script` makes one), with the script loaded, keys pressed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { STEPWARD } from '../terminal.ts';

const dirs: string[] = [];
const open: ChildProcess[] = [];
afterEach(async () => {
  for (const shell of open.splice(0)) {
    if (shell.exitCode !== null || shell.signalCode !== null) continue;
    const ended = new Promise((resolve) => shell.once('exit', resolve));
    // What stands in the line goes; `script` ends with its shell. A shell that does not obey loses its terminal.
    shell.stdin?.write('\x05\x15exit\n');
    const stubborn = setTimeout(() => shell.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(stubborn);
  }
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

export interface Place {
  dir: string;
  env: NodeJS.ProcessEnv;
}

/** A directory of its own that is home and project, with `stepward` on the PATH. */
export function place(): Place {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-shell-')));
  dirs.push(dir);
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'stepward'), `#!/bin/sh\nexec "${process.execPath}" "${STEPWARD}" "$@"\n`);
  chmodSync(join(bin, 'stepward'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: dir, TERM: 'dumb', LC_ALL: 'C.UTF-8', PS1: '$ ' };
  return { dir, env };
}

export function stepward({ dir, env }: Place, ...args: string[]): { status: number | null; stdout: string } {
  return spawnSync('stepward', args, { cwd: dir, env, encoding: 'utf8' });
}

/** What fish would offer for the line. */
export function fishOffers({ dir, env }: Place, line: string): string[] {
  const script = 'stepward completion fish | source; complete -C "$LINE"';
  const options = { cwd: dir, env: { ...env, LINE: line }, encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], options);
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

export interface Shell {
  /** Presses the keys and waits until the terminal shows the text after that; gives what it has shown since. */
  type(keys: string, shows: string | RegExp): Promise<string>;
}

const READY = 'shell-is-ready';

/** An interactive shell with the completion loaded. */
export async function shell(kind: 'bash' | 'zsh', { dir, env }: Place): Promise<Shell> {
  const commands = { bash: 'bash --norc --noprofile -i', zsh: 'zsh -f -i' };
  const child = spawn('script', ['-q', '-f', '-c', commands[kind], '/dev/null'], {
    cwd: dir,
    env: { ...env, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  open.push(child);
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
  });
  const type: Shell['type'] = async (keys, shows) => {
    const from = shown.length;
    child.stdin.write(keys);
    const since = () => shown.slice(from);
    const wanted = typeof shows === 'string' ? expect.stringContaining(shows) : expect.stringMatching(shows);
    await expect.poll(since, { timeout: 20_000 }).toEqual(wanted);
    return since();
  };
  const load = {
    bash: "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set completion-display-width 1'; source <(stepward completion bash)",
    zsh: "unsetopt zle_bracketed_paste; unset zle_bracketed_paste; PROMPT='$ '; setopt nobeep; zstyle ':completion:*' menu no; autoload -U compinit && compinit -u -D; source <(stepward completion zsh)",
  };
  // In two words, so that the echo of the line is not taken for its output.
  await type(`${load[kind]}; echo shell-is"-ready"\n`, READY);
  return { type };
}
