// What a job's id and an envelope's id may look like. Both become parts of file names, so nothing that could leave a directory.

const JOB = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const ENVELOPE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export const isJobId = (value: unknown): value is string => typeof value === 'string' && JOB.test(value);
export const isEnvelopeId = (value: unknown): value is string => typeof value === 'string' && ENVELOPE.test(value);
/** Attempts and sequence numbers begin at 1. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;
export const isSha256 = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
