// The spool: envelopes as files in the attempt's directory, for agents whose sandbox has neither network nor registry.
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
  await writeWhole(spoolFile(paths, envelope), JSON.stringify(envelope));
}

export const spoolFile = ({ spool }: SpoolPaths, { seq, id }: Envelope): string => join(spool, `${seq}-${id}.json`);

export interface Collector {
  job: string;
  attempt: number;
  /** Takes an envelope into the inbox. If it throws, the file stays and is handed over again the next time. */
  deliver(envelope: Envelope, way: Way): Promise<void>;
  /** Told before a file is moved aside: a crash between tells it twice rather than never. */
  refused(refusal: { file: string; why: string }): Promise<void> | void;
  /** Further checks of the gate; a sentence refuses. */
  inspect?(envelope: Envelope): Promise<string | null>;
  /** What was told and still lies there, since it cannot be moved: kept between collections, it is not told every second. */
  told?: Set<string>;
}

type Found = { file: string; seq: number; envelope: Envelope } | Refusal;
type Refusal = { file: string; why: string };

/** Files open at once: a spool may hold more than a process may open. */
const READERS = 32;
/** Bytes of a name in `refused/`, so that a number, `.why` and a temporary file's random part still fit into 255. */
const NAME_LIMIT = 200;

/**
 * Hands over every envelope in the spool, lowest sequence number first, and gives how many. A file is unlinked only after it was
 * taken; a crash between leaves a duplicate, which its id gives away. What is no envelope of this attempt is moved to
 * `refused/` with a reason beside it, and never looked at again; what cannot be moved is told and left. A spool that is no
 * directory is told and moved aside itself. Throws what `collector` throws and what the system lacks, nothing for what an agent
 * put there.
 */
export async function collectSpool(paths: SpoolPaths, collector: Collector): Promise<number> {
  const tell = teller(paths, collector);
  const files = await candidates(paths).catch((error: unknown) =>
    error instanceof SpoolError ? error : throws(error),
  );
  if (files instanceof SpoolError) {
    await clearSpool(paths, files, tell);
    return 0;
  }
  const found: Found[] = [];
  for (let at = 0; at < files.length; at += READERS) {
    const some = files.slice(at, at + READERS).map((file) => read(paths, file, collector));
    found.push(...(await Promise.all(some)).flat());
  }
  const good = found.filter((entry) => 'envelope' in entry).sort((a, b) => a.seq - b.seq);
  for (const { file, envelope } of good) {
    await collector.deliver(envelope, 'spool');
    await rm(join(paths.spool, file), { force: true }).catch((error: unknown) =>
      tell.once({ file, why: `taken, but it cannot be removed (${codeOf(error)})` }),
    );
  }
  // Last, so that a file which cannot be moved does not hold up the news.
  for (const entry of found) if ('why' in entry) await moveAside(paths, entry, tell);
  return good.length;
}

/** Is there anything to collect? A spool that is no directory is: collecting tells it. */
export const hasNews = async (paths: SpoolPaths): Promise<boolean> => {
  try {
    return (await candidates(paths)).length > 0;
  } catch (error) {
    return error instanceof SpoolError || throws(error);
  }
};

/** Throws SpoolError if the spool is no directory, or one that cannot be read. */
async function candidates(paths: SpoolPaths): Promise<string[]> {
  try {
    if (!(await lstat(paths.spool)).isDirectory()) throw new SpoolError('the spool is not a directory');
    const entries = await readdir(paths.spool, { withFileTypes: true });
    const isRefused = (name: string) => join(paths.spool, name) === paths.refused;
    const files = entries.filter(
      (entry) => !isTemporary(entry.name) && !(isRefused(entry.name) && entry.isDirectory()),
    );
    // Something else in the place of `refused/` comes first: nothing can be moved there before it is gone.
    return files.map(({ name }) => name).sort((a, b) => Number(isRefused(b)) - Number(isRefused(a)));
  } catch (error) {
    if (isGone(error)) return [];
    if (isShut(error)) throw new SpoolError(`the spool cannot be read (${codeOf(error)})`, { cause: error });
    throw error;
  }
}

async function read(paths: SpoolPaths, file: string, collector: Collector): Promise<Found[]> {
  const envelope = await readEnvelope(join(paths.spool, file));
  if (envelope === null) {
    // Another collector, or the agent, was faster; or the name given is not the name there is.
    return file.includes('\uFFFD') ? [{ file, why: 'its name is not UTF-8' }] : [];
  }
  if (typeof envelope === 'string') return [{ file, why: envelope }];
  const { job, attempt } = collector;
  if (envelope.job !== job || envelope.attempt !== attempt) {
    return [{ file, why: `other_attempt: it is of job ${envelope.job}, attempt ${envelope.attempt}` }];
  }
  const why = (await collector.inspect?.(envelope)) ?? null;
  return [why === null ? { file, seq: envelope.seq, envelope } : { file, why }];
}

/** Null: gone. A sentence: no envelope. */
async function readEnvelope(path: string): Promise<Envelope | string | null> {
  try {
    return parseEnvelope(await readRegular(path, ENVELOPE_LIMIT));
  } catch (error) {
    if (error instanceof EnvelopeError || error instanceof FileKindError) return error.message;
    if (isGone(error)) return null;
    if (isShut(error)) return reasonOf(error);
    throw error;
  }
}

interface Teller {
  once(refusal: Refusal): Promise<void>;
  forget(refusal: Refusal): void;
}

function teller(paths: SpoolPaths, collector: Collector): Teller {
  const told = collector.told ?? new Set();
  const nameOf = ({ file, why }: Refusal) => JSON.stringify([paths.spool, file, why]);
  return {
    async once(refusal) {
      if (told.has(nameOf(refusal))) return;
      await collector.refused(refusal);
      told.add(nameOf(refusal));
    },
    forget: (refusal) => void told.delete(nameOf(refusal)),
  };
}

async function moveAside(paths: SpoolPaths, refusal: Refusal, tell: Teller): Promise<void> {
  const { file, why } = refusal;
  await tell.once(refusal);
  try {
    const from = await outOfTheWay(paths, file);
    // Not `recursive`: that would take a link to a directory elsewhere for it.
    await mkdir(paths.refused).catch((error: unknown) => (codeOf(error) === 'EEXIST' ? undefined : throws(error)));
    if (!(await lstat(paths.refused)).isDirectory()) return;
    const aside = await freeName(paths.refused, file);
    // A link is moved, never what it points to.
    await rename(from, aside);
    tell.forget(refusal);
    await writeWhole(`${aside}.why`, `${why}\n`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') await tell.once({ file, why: `it cannot be moved aside (${codeOf(error)})` });
  }
}

/** What has the name of `refused/` must leave it first. */
async function outOfTheWay(paths: SpoolPaths, file: string): Promise<string> {
  const from = join(paths.spool, file);
  if (from !== paths.refused) return from;
  const away = join(paths.spool, `.${file}.${randomBytes(6).toString('hex')}.tmp`);
  await rename(from, away);
  return away;
}

/** Whoever writes next makes the spool anew. */
async function clearSpool(paths: SpoolPaths, { message, cause }: SpoolError, tell: Teller): Promise<void> {
  const refusal = { file: basename(paths.spool), why: message };
  await tell.once(refusal);
  // A directory that cannot be read may hold news: it stays until it can.
  if (cause) return;
  try {
    await rename(paths.spool, await freeName(dirname(paths.spool), `${refusal.file}.refused`));
    tell.forget(refusal);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') await tell.once({ ...refusal, why: `it cannot be moved aside (${codeOf(error)})` });
  }
}

/** The evidence of an earlier refusal under the same name is kept. */
async function freeName(directory: string, file: string): Promise<string> {
  const bytes = Buffer.from(file);
  const base = bytes.length <= NAME_LIMIT ? file : bytes.toString('utf8', 0, NAME_LIMIT).replace(/\uFFFD+$/, '');
  for (let n = 0; ; n++) {
    const path = join(directory, n === 0 ? base : `${base}.${n}`);
    if (!(await isThere(path)) && !(await isThere(`${path}.why`))) return path;
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: unknown) => (codeOf(error) === 'ENOENT' ? false : throws(error)),
  );

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');
/** An agent's doing, where EMFILE or EIO are not. */
const isShut = (error: unknown): boolean =>
  ['EACCES', 'EPERM', 'ELOOP', 'ENODEV', 'ENXIO'].includes(codeOf(error) ?? '');

function throws(error: unknown): never {
  throw error;
}
