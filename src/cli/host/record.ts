// Who runs the host of a registry. The lock is the truth about whether one runs; this file beside it only says who it is.
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { BUILD } from '../../jobs/installation.ts';
import { readJson, writeWhole } from '../../transports/files.ts';
import { identify, isIdentity, isProvenGone, type ProcessIdentity } from '../../transports/process.ts';
import { iso } from '../status.ts';

export interface HostRecord extends ProcessIdentity {
  /** Of the machine, for people. */
  name: string;
  /** ISO 8601. */
  since: string;
  build: string;
}

export const HOST_LOCK = 'host';
const fileOf = (dir: string): string => join(dir, 'host.json');

export function ownRecord(): HostRecord {
  const self = identify(process.pid);
  if (!self) throw new Error(`the start time of this process (pid ${process.pid}) cannot be read`);
  return { ...self, name: hostname(), since: iso(Date.now()), build: BUILD };
}

/** Throws the system's error. */
export const writeRecord = (dir: string, record: HostRecord): void =>
  writeWhole(fileOf(dir), `${JSON.stringify(record)}\n`);

/** Null: there is none, it is damaged, or it was left by a host that is dead by pid and start time. */
export function livingRecord(dir: string): HostRecord | null {
  const found = readJson(fileOf(dir)) as HostRecord | null;
  if (!isIdentity(found) || typeof found.name !== 'string' || typeof found.since !== 'string') return null;
  return isProvenGone(found) ? null : found;
}

/** The file names this very process. */
export function isNamed(dir: string, { pid, started }: HostRecord): boolean {
  const found = livingRecord(dir);
  return found?.pid === pid && found.started === started;
}

/** Only one's own: where the lock was removed, the file may be another host's. Throws the system's error. */
export function removeRecord(dir: string, record: HostRecord): void {
  if (isNamed(dir, record)) rmSync(fileOf(dir), { force: true });
}

/** `pid 7 on mybox since 2030-01-01T00:00:00.000Z`. */
export const nameOfHost = ({ pid, name, since }: HostRecord): string => `pid ${pid} on ${name} since ${since}`;
