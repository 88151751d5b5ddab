// Runs an agent's command in this process, as main.ts would, and keeps what it printed.
import { Writable } from 'node:stream';
import type { AgentIo } from '../../src/cli/agent-side.ts';

export interface Printed {
  code: number;
  out: string;
  err: string;
}

export async function run(
  main: (argv: string[], io: AgentIo) => Promise<number>,
  argv: string[],
  place: { cwd: string; env?: Record<string, string> },
): Promise<Printed> {
  const [out, err] = [new Kept(), new Kept()];
  const code = await main(argv, { stdout: out, stderr: err, env: place.env ?? {}, cwd: place.cwd });
  return { code, out: out.text, err: err.text };
}

class Kept extends Writable {
  text = '';
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
