// What can go wrong with the store itself, as one typed error. The kernel, which must not import this file, knows it by name.

export type RegistryErrorCode =
  /** The disk is full or failing; nothing of the call was written, and it may be tried again. */
  | 'full'
  /** Other processes kept the store locked for longer than we wait. */
  | 'busy'
  /** Written by a newer Stepward. */
  | 'newer_schema'
  /** On a file system where several processes cannot share the store. */
  | 'network_fs'
  /** The file is no registry, or damaged. */
  | 'corrupt'
  /** Not there, not permitted, no driver, closed. */
  | 'unreachable'
  /** Insert of an id that is taken: make another one and try again. */
  | 'duplicate_id';

/** Thrown by every method of a registry. The message is a sentence for people: what, where, and what to do. */
export class RegistryError extends Error {
  override name = 'RegistryError';
  readonly code: RegistryErrorCode;

  constructor(code: RegistryErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
