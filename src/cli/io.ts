// Where a command reads and prints. People read stderr, the result goes to stdout (docs/design.md section 5), so that a script
// that captures the result never has to pick it out of the talk.
import type { Readable, Writable } from 'node:stream';
import { createColors } from 'picocolors';
import type { Clock, Registry } from '../kernel/ports.ts';
import { noteHangUp } from './hang-up.ts';

/** What a test puts in place of the machine's own: simulated time that crosses processes, faults at the registry. */
export interface World {
  clock?: Clock;
  wrap?: (registry: Registry) => Registry;
}

export interface Io {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  env: NodeJS.ProcessEnv;
  cwd: string;
  world?: World;
}

export type Colors = ReturnType<typeof createColors>;

export interface Output {
  readonly json: boolean;
  /** stderr is a terminal: one line may be painted over. */
  readonly live: boolean;
  /** stdout is a terminal: a picture may be painted there. */
  readonly screen: boolean;
  readonly width: number;
  /** For stderr, and for stdout. Plain unless the stream is a terminal and NO_COLOR is not set. */
  readonly talk: Colors;
  readonly ink: Colors;
  /** A line for people, on stderr. */
  say(line: string): void;
  /** A line of the result, on stdout. */
  print(line: string): void;
  /** An object of the result, on stdout: one line of JSON. */
  object(value: object): void;
  /** Paints a line over the former painted one; nothing unless `live`. */
  paint(line: string): void;
  /** The reader of stdout has gone away: `logs -f | head`. */
  readonly unread: AbortSignal;
  /** Resolves when everything is handed to the system. */
  flush(): Promise<void>;
}

interface Terminal {
  isTTY?: boolean;
  columns?: number;
}

const CLEAR_LINE = '\r\x1b[2K';

export function createOutput(io: Io, json: boolean): Output {
  const gone = new AbortController();
  // Neither is a crash: the job goes on. EPIPE: there is only nobody to tell. A full disk: somebody misses the result.
  const lost = (error: NodeJS.ErrnoException) => {
    // The terminal is gone; its signal may be late, or have gone to the shell alone.
    if (error.code === 'EIO' && (io.stdout as Terminal).isTTY) noteHangUp();
    if (!gone.signal.aborted && error.code !== 'EPIPE') {
      io.stderr.write(`error: standard output could not be written (${error.code ?? error.message})\n`);
    }
    gone.abort();
  };
  io.stdout.on('error', lost);
  io.stderr.on('error', () => {});
  const terminal = (stream: Writable) => (stream as Terminal).isTTY === true && io.env.TERM !== 'dumb';
  const colours = (stream: Writable) => createColors(terminal(stream) && !io.env.NO_COLOR);
  let painted = false;
  const unpaint = () => {
    if (painted) io.stderr.write(CLEAR_LINE);
    painted = false;
  };
  const print = (line: string) => {
    unpaint();
    io.stdout.write(`${line}\n`);
  };
  return {
    json,
    live: terminal(io.stderr),
    // A terminal that does not know its size (0 columns) shows lines, but no picture fits into it.
    screen: terminal(io.stdout) && (io.stdout as Terminal).columns !== 0,
    width: (io.stderr as Terminal).columns || 100,
    talk: colours(io.stderr),
    ink: colours(io.stdout),
    unread: gone.signal,
    say(line) {
      unpaint();
      io.stderr.write(`${line}\n`);
    },
    print,
    object: (value) => print(JSON.stringify(value)),
    paint(line) {
      if (!terminal(io.stderr)) return;
      if (line === '') return unpaint();
      io.stderr.write(`${CLEAR_LINE}${line}`);
      painted = true;
    },
    async flush() {
      unpaint();
      for (const stream of [io.stdout, io.stderr]) {
        await new Promise<void>((resolve) => stream.write('', () => resolve()));
      }
    },
  };
}
