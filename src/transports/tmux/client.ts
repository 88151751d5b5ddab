// Runs tmux as a program with arguments: no shell reads them. Exit status and error output are both looked at, since tmux answers
// some questions about things that are not there with an empty line and status 0.
import { execFile } from 'node:child_process';

/** Which tmux server: by name (`-L`), by socket (`-S`), or, with neither, the one that the environment points to. */
export interface TmuxServer {
  name?: string;
  path?: string;
}

export interface TmuxClientOptions {
  server?: TmuxServer;
  /** The program; default `tmux`, found by PATH. */
  program?: string;
  /** A server that does not answer for so long, ms, is given up. Default 5 s. */
  timeoutMs?: number;
  /** The environment of the client; default this process's. A server that this client starts inherits it. */
  env?: NodeJS.ProcessEnv;
}

export type TmuxTrouble =
  /** No such program. */
  | 'missing'
  /** No server runs there, or it may not be spoken to. */
  | 'no-server'
  /** The server has no such session, window or pane. */
  | 'no-target'
  /** No answer: whether the command was performed is not known. */
  | 'timeout'
  | 'failed';

export class TmuxError extends Error {
  override name = 'TmuxError';
  readonly trouble: TmuxTrouble;
  constructor(trouble: TmuxTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}

export interface Tmux {
  /** Performs one command sequence (`;` as an argument of its own parts them) and gives what it printed. Throws TmuxError. */
  run(args: readonly string[], input?: string): Promise<string>;
}

const PRINTED_LIMIT = 16 * 1024 * 1024;

export function createTmux(options: TmuxClientOptions = {}): Tmux {
  const { server = {}, program = 'tmux', timeoutMs = 5_000, env = process.env } = options;
  // Without -u, and with a driver whose locale is C (cron, systemd), every letter beyond ASCII would be read as `_`.
  const base = ['-u', ...serverArgs(server)];
  return {
    run: (args, input = '') =>
      new Promise((resolve, reject) => {
        const all = [...base, ...args];
        // Not in our own working directory, which may be gone by now: then the program itself would seem to be missing.
        const child = execFile(
          program,
          all,
          { cwd: '/', env, encoding: 'utf8', timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: PRINTED_LIMIT },
          (error, stdout, stderr) => {
            const said = stderr.trim();
            if (!error && said === '') return resolve(stdout);
            reject(troubleOf(program, args, error, said, timeoutMs));
          },
        );
        // A client that ends before it has read everything: its exit status says why.
        child.stdin?.on('error', () => {});
        child.stdin?.end(input);
      }),
  };
}

function serverArgs({ name, path }: TmuxServer): string[] {
  if (name !== undefined && path !== undefined) {
    throw new TypeError('a tmux server is named by its name (-L) or by its socket (-S), not by both');
  }
  if (path !== undefined) return ['-S', path];
  return name === undefined ? [] : ['-L', name];
}

function troubleOf(
  program: string,
  args: readonly string[],
  error: (Error & { code?: unknown; killed?: boolean }) | null,
  said: string,
  timeoutMs: number,
): TmuxError {
  const command = args[0] ?? '';
  if (error?.code === 'ENOENT' || error?.code === 'EACCES') {
    const seen = error.code === 'ENOENT' ? 'was not found' : 'may not be executed';
    return new TmuxError('missing', `${program} ${seen}; install tmux 3.2 or newer, or use another transport`);
  }
  if (error?.killed) return new TmuxError('timeout', `tmux ${command}: no answer within ${timeoutMs} ms`);
  const trouble = kindOf(said);
  return new TmuxError(trouble, `tmux ${command}: ${said || (error?.message ?? 'failed')}`);
}

function kindOf(said: string): TmuxTrouble {
  if (/no server running|error connecting to|lost server|server exited/.test(said)) return 'no-server';
  return /can't find (pane|window|session)|no such (pane|window|session)/.test(said) ? 'no-target' : 'failed';
}
