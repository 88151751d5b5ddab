// The report and its manifest: what an agent hands back, named by content and signed for one attempt. Promise 1 of
// docs/design.md rests on this file: `completed` counts only while every byte is still what was signed.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { codeOf, FileKindError, readRegular, reasonOf, writeWhole } from './files.ts';
import { isCount, isRecord, isSha256 } from './names.ts';
import { type AttemptRef, attemptPaths } from './paths.ts';
import { type Content, contentOf, type Expected, handedIn, pathInside } from './report-files.ts';
import { isSignedWith, signatureOf } from './signature.ts';

const MANIFEST_SCHEMA = 'stepward.manifest/1';
/** Bytes; a thousand files with long names stay below. */
const MANIFEST_LIMIT = 4 * 1024 * 1024;

export interface ManifestFile extends Content {
  /** Relative to the working directory, with `/`. */
  path: string;
}

export interface Manifest {
  schema: typeof MANIFEST_SCHEMA;
  job: string;
  attempt: number;
  /** The first is the report. */
  files: ManifestFile[];
  sig: string;
}

export interface Finalized {
  /** Of the manifest's bytes: what a `completed` names. */
  sha256: string;
  files: ManifestFile[];
}

export interface HandIn extends AttemptRef {
  key: string;
  /** As given, relative to `from`; absent: the attempt's own report.md. */
  report?: string | undefined;
  artifacts?: string[] | undefined;
  /** Absolute. */
  from: string;
}

/** Writes the manifest, whole or not at all; a former one is replaced. Throws InputError naming --report or --artifact. */
export async function finalizeReport({ key, report, artifacts = [], from, ...ref }: HandIn): Promise<Finalized> {
  const paths = attemptPaths(ref);
  const root = await realpath(ref.cwd);
  const given = [
    { option: '--report', value: report ?? paths.report },
    ...artifacts.map((value) => ({ option: '--artifact', value })),
  ];
  const files: ManifestFile[] = [];
  for (const file of await handedIn(root, from, given, paths.manifest)) {
    files.push({ path: relative(root, file.real).split(sep).join('/'), ...file.content });
  }
  const unsigned = { schema: MANIFEST_SCHEMA, job: ref.job, attempt: ref.attempt, files } as const;
  const manifest: Manifest = { ...unsigned, sig: signatureOf(unsigned, key) };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeWhole(paths.manifest, text);
  return { sha256: sha256(text), files };
}

export type Verified = ({ valid: true } & Finalized) | { valid: false; why: string };

export type Verification = AttemptRef & { key: string; signal?: AbortSignal | undefined };

/** Reads everything again. Never throws for what an agent can have done: `why` is a sentence that names the file. Throws the
 *  signal's reason when aborted: nothing is proven then, neither way. */
export async function verifyManifest({ key, signal, ...ref }: Verification): Promise<Verified> {
  try {
    return await verify(ref, key, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Invalid) return { valid: false, why: error.message };
    return { valid: false, why: `the report cannot be read: ${reasonOf(error)}` };
  }
}

class Invalid extends Error {}

async function verify(ref: AttemptRef, key: string, signal: AbortSignal | undefined): Promise<Verified> {
  const text = await readManifest(attemptPaths(ref).manifest);
  const manifest = parseManifest(text);
  if (!isSignedWith(manifest, key)) throw new Invalid('manifest.json is not signed with the key of this attempt');
  if (manifest.job !== ref.job || manifest.attempt !== ref.attempt) {
    throw new Invalid(`manifest.json is of job ${manifest.job}, attempt ${manifest.attempt}`);
  }
  const root = await realpath(ref.cwd);
  for (const file of manifest.files) await compare(root, file, signal);
  return { valid: true, sha256: sha256(text), files: manifest.files };
}

async function readManifest(path: string): Promise<string> {
  try {
    return await readRegular(path, MANIFEST_LIMIT);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new Invalid('there is no manifest.json: the report is not finalized');
    throw new Invalid(`manifest.json cannot be read: ${reasonOf(error)}`);
  }
}

function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Invalid('manifest.json is not JSON');
  }
  const isWhole =
    isRecord(value) &&
    value.schema === MANIFEST_SCHEMA &&
    typeof value.job === 'string' &&
    isCount(value.attempt) &&
    isSha256(value.sig) &&
    Array.isArray(value.files) &&
    value.files.length > 0 &&
    value.files.every(isManifestFile);
  if (!isWhole) throw new Invalid('manifest.json is not a manifest');
  return value as unknown as Manifest;
}

const isManifestFile = (value: unknown): boolean =>
  isRecord(value) && typeof value.path === 'string' && isSha256(value.sha256) && Number.isSafeInteger(value.bytes);

async function compare(root: string, file: ManifestFile, signal: AbortSignal | undefined): Promise<void> {
  const { path, sha256, bytes } = file;
  const found = await look(root, path, { bytes, signal });
  if (found.bytes !== bytes) throw new Invalid(`${path} has ${found.bytes} bytes, ${bytes} were finalized`);
  if (found.sha256 !== sha256) throw new Invalid(`${path} has changed since it was finalized (its sha256 differs)`);
}

async function look(root: string, path: string, expected: Expected): Promise<Content> {
  try {
    const real = await pathInside(root, join(root, path));
    if (real === null) throw new Invalid(`${path} lies outside the working directory`);
    return (await contentOf(real, expected)).content;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new Invalid(`${path} is missing`);
    if (error instanceof FileKindError) throw new Invalid(`${path} is ${reasonOf(error)}`);
    throw error;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
