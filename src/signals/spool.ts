// The spool: envelopes as files in the attempt's directory, for agents whose sandbox has neither network nor registry.
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Envelope, Way } from '../kernel/ports.ts';
import { ENVELOPE_LIMIT, EnvelopeError, parseEnvelope } from './envelope.ts';
import { codeOf, FileKindError, isTemporary, readRegular, reasonOf, writeWhole } from './files.ts';
import type { AttemptPaths } from './paths.ts';

export type SpoolPaths = Pick<AttemptPaths, 'spool' | 'refused'>;

export class SpoolError extends Error {
  override name = 'SpoolError';
}

/** By the agent. The directory is made anew if the agent swept it away. */
export async function writeSpool(paths: SpoolPaths, envelope: Envelope): Promise<void> {
  await mkdir(paths.spool, { recursive: true });
  await writeWhole(join(paths.spool, `${envelope.seq}-${envelope.id}.json`), JSON.stringify(envelope));
}

export interface Collector {
  job: string;
  attempt: number;
  /** Takes an envelope into the inbox. If it throws, the file stays and is handed over again the next time. */
  deliver(envelope: Envelope, way: Way): Promise<void>;
  /** Told before a file is moved aside: a crash between tells it twice rather than never. */
  refused(refusal: { file: string; why: string }): Promise<void> | void;
  /** Further checks of the gate; a sentence refuses. */
  inspect?(envelope: Envelope): Promise<string | null>;
}

type Found = { file: string; seq: number; envelope: Envelope } | { file: string; why: string };

/**
 * Hands over every envelope in the spool, lowest sequence number first, and gives how many. A file is unlinked only after it was
 * taken; a crash between leaves a duplicate, which its id gives away. What is no envelope of this attempt is moved to
 * `refused/` with a reason beside it, and never looked at again. Throws SpoolError, and whatever `deliver` throws.
 */
export async function collectSpool(paths: SpoolPaths, collector: Collector): Promise<number> {
  const found = (await Promise.all((await candidates(paths)).map((file) => read(paths, file, collector)))).flat();
  const good = found.filter((entry) => 'envelope' in entry).sort((a, b) => a.seq - b.seq);
  for (const { file, envelope } of good) {
    await collector.deliver(envelope, 'spool');
    await rm(join(paths.spool, file), { force: true });
  }
  // Last, so that a file which cannot be moved does not hold up the news.
  for (const entry of found) if ('why' in entry) await moveAside(paths, entry, collector);
  return good.length;
}

/** Is there anything to collect? */
export const hasNews = async (paths: SpoolPaths): Promise<boolean> => (await candidates(paths)).length > 0;

async function candidates(paths: SpoolPaths): Promise<string[]> {
  try {
    if (!(await lstat(paths.spool)).isDirectory()) throw new SpoolError(`the spool ${paths.spool} is not a directory`);
    const names = await readdir(paths.spool);
    return names.filter((name) => !isTemporary(name) && join(paths.spool, name) !== paths.refused);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function read(paths: SpoolPaths, file: string, collector: Collector): Promise<Found[]> {
  try {
    const envelope = parseEnvelope(await readRegular(join(paths.spool, file), ENVELOPE_LIMIT));
    const { job, attempt } = collector;
    if (envelope.job !== job || envelope.attempt !== attempt) {
      return [{ file, why: `other_attempt: it is of job ${envelope.job}, attempt ${envelope.attempt}` }];
    }
    const why = (await collector.inspect?.(envelope)) ?? null;
    return [why === null ? { file, seq: envelope.seq, envelope } : { file, why }];
  } catch (error) {
    if (error instanceof EnvelopeError || error instanceof FileKindError) return [{ file, why: error.message }];
    // Another collector, or the agent, was faster.
    if (codeOf(error) === 'ENOENT') return [];
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return [{ file, why: reasonOf(error) }];
    throw error;
  }
}

async function moveAside(paths: SpoolPaths, { file, why }: { file: string; why: string }, collector: Collector) {
  await mkdir(paths.refused, { recursive: true });
  const aside = await freeName(paths.refused, file);
  await writeWhole(`${aside}.why`, `${why}\n`);
  await collector.refused({ file, why });
  // A link is moved, never what it points to.
  await rename(join(paths.spool, file), aside).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

/** The evidence of an earlier refusal under the same name is kept. */
async function freeName(directory: string, file: string): Promise<string> {
  const taken = await readdir(directory);
  for (let n = 0; ; n++) {
    const name = n === 0 ? file : `${file}.${n}`;
    if (!taken.includes(name)) return join(directory, name);
  }
}
