// What a started agent printed, out of the files its launcher keeps beside the registry.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runDirOf } from '../jobs/workshop.ts';
import type { Row } from '../kernel/ports.ts';
import { plain } from './text.ts';

const FILES = Object.freeze(['out.log', 'err.log'] as const);
const TAIL_LINES = 5;
/** Enough for the last lines; a log may be as large as a disk. */
const TAIL_BYTES = 16_384;

export interface AgentOutput {
  dir: string;
  /** The last lines of its errors, else of its output; made plain. */
  tail: string[];
}

/** Null: nothing was started, or it printed nothing. */
export async function agentOutput(registryDir: string, row: Row): Promise<AgentOutput | null> {
  const dir = runDirOf(registryDir, row);
  for (const name of [...FILES].reverse()) {
    const size = (await stat(join(dir, name)).catch(() => null))?.size ?? 0;
    if (size === 0) continue;
    const text = await readEnd(join(dir, name), size);
    return { dir, tail: text.trimEnd().split('\n').slice(-TAIL_LINES).map(plain) };
  }
  return null;
}

async function readEnd(file: string, size: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(file, { start: Math.max(0, size - TAIL_BYTES) }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** All of it, as it was printed: output first, then errors. */
export async function copyOutput(registryDir: string, row: Row, to: Writable): Promise<boolean> {
  let found = false;
  for (const name of FILES) {
    const file = join(runDirOf(registryDir, row), name);
    if (!(await stat(file).catch(() => null))) continue;
    found = true;
    await pipeline(createReadStream(file), to, { end: false });
  }
  return found;
}
