// What SQLite's result codes mean for us. Both drivers put the extended code into `errcode`.
import { RegistryError } from '../errors.ts';

const PRIMARY = Object.freeze({
  perm: 3,
  busy: 5,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  protocol: 15,
  auth: 23,
  notadb: 26,
});

/** Extended codes of SQLITE_IOERR that a write, a sync or a growing file gives: the disk has no room or no strength left. */
const WRITE_FAILURES: readonly number[] = [
  (3 << 8) | 10, // write
  (4 << 8) | 10, // fsync
  (5 << 8) | 10, // dir_fsync
  (6 << 8) | 10, // truncate
  (19 << 8) | 10, // shmsize
];
const IOERR_CORRUPTFS = (33 << 8) | 10;
/** Another connection could not be served yet while the log of a killed writer is recovered: BUSY_RECOVERY has BUSY's low byte. */
const primary = (code: number): number => code & 0xff;

/** @photostructure/sqlite 1.2 leaves the code out of what `all` throws; SQLite's own words are all that is left then. */
const CODE_BY_MESSAGE: Readonly<Record<string, number>> = Object.freeze({
  'database is locked': PRIMARY.busy,
  'locking protocol': PRIMARY.protocol,
  'attempt to write a readonly database': PRIMARY.readonly,
  'disk I/O error': PRIMARY.ioerr,
  'database disk image is malformed': PRIMARY.corrupt,
  'database or disk is full': PRIMARY.full,
  'unable to open database file': PRIMARY.cantopen,
  'file is not a database': PRIMARY.notadb,
});

function codeOf(error: unknown): number | undefined {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  if (code !== 'ERR_SQLITE_ERROR') return undefined;
  return typeof errcode === 'number' ? errcode : CODE_BY_MESSAGE[String(message)];
}

/** Somebody else holds the lock; the same call may work in a moment. PROTOCOL is the same race, over the shared memory. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (primary(code) === PRIMARY.busy || primary(code) === PRIMARY.protocol);
}

/** A driver's error as a RegistryError; anything else (a mistake of ours, a callback that threw) comes back as it is. */
export function asRegistryError(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const cause = { cause: error };
  const why = error.message;
  if (primary(code) === PRIMARY.full || WRITE_FAILURES.includes(code)) {
    return new RegistryError(
      'full',
      `The registry ${file} could not be written (${why}): the disk is full, over quota or failing. Nothing of this call was written; make room and try again.`,
      cause,
    );
  }
  switch (primary(code)) {
    case PRIMARY.busy:
    case PRIMARY.protocol:
      return new RegistryError('busy', `The registry ${file} stayed locked by another process (${why}).`, cause);
    case PRIMARY.corrupt:
    case PRIMARY.notadb:
      return corrupt(file, why, cause);
    case PRIMARY.ioerr:
      if (code === IOERR_CORRUPTFS) return corrupt(file, why, cause);
      return unreachable(file, why, cause);
    case PRIMARY.perm:
    case PRIMARY.readonly:
    case PRIMARY.cantopen:
    case PRIMARY.auth:
      return unreachable(file, why, cause);
    default:
      return error;
  }
}

const corrupt = (file: string, why: string, cause: ErrorOptions): RegistryError =>
  new RegistryError(
    'corrupt',
    `${file} is not a sound registry (${why}). Nothing was changed; restore it from a copy, or move it away to begin with an empty one.`,
    cause,
  );

const unreachable = (file: string, why: string, cause: ErrorOptions): RegistryError =>
  new RegistryError('unreachable', `The registry ${file} cannot be used from here (${why}).`, cause);

/** For system calls around the store (mkdir, statfs): the same two meanings. */
export function fromSystem(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return error;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return full
    ? new RegistryError(
        'full',
        `${path} could not be made (${code}): the disk is full or over quota. Make room and try again.`,
        {
          cause: error,
        },
      )
    : new RegistryError('unreachable', `The registry's directory ${path} cannot be used (${code}).`, { cause: error });
}
