// The program inside this process, with streams that remember: for everything that starts nothing.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

export function freshDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-in-')));
  dirs.push(dir);
  return dir;
}

/** A stream that keeps what is written; `terminal` makes it look like one. */
export class Paper extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;
  constructor(terminal = false, columns = 80) {
    super();
    this.isTTY = terminal;
    this.columns = columns;
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface Said {
  exit: number;
  out: string;
  err: string;
}

export interface InsideOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  input?: string | Buffer;
}

export async function inside(argv: string[], { cwd, env = {}, input = '' }: InsideOptions): Promise<Said> {
  const stdout = new Paper();
  const stderr = new Paper();
  const stdin = Readable.from([Buffer.from(input)]);
  const { PATH = '', HOME = '' } = process.env;
  const exit = await runProgram(argv, { stdin, stdout, stderr, cwd, env: { PATH, HOME, ...env } });
  return { exit, out: stdout.text, err: stderr.text };
}

/** Every path below a directory, sorted. */
export const everything = (dir: string): string[] => (readdirSync(dir, { recursive: true }) as string[]).sort();
