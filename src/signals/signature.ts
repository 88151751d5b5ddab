// Signatures: HMAC-SHA256 with the attempt's key over the canonical JSON of everything but `sig`. They keep out stale, crossed
// and remote events and mistakes; they do not protect from a hostile process of the same user (docs/design.md section 1).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Verify } from '../kernel/ports.ts';
import { canonicalize } from './canonical.ts';

/** A new attempt's signing key: 256 random bits, hex. Never printed. */
export const newKey = (): string => randomBytes(32).toString('hex');

export function signatureOf(value: object, key: string): string {
  const { sig: _, ...signed } = value as { sig?: unknown };
  return createHmac('sha256', key).update(canonicalize(signed)).digest('hex');
}

/** Never throws: what cannot be signed cannot have been signed. */
export function isSignedWith(value: { sig: string }, key: string): boolean {
  try {
    const expected = Buffer.from(signatureOf(value, key));
    const given = Buffer.from(value.sig);
    return given.length === expected.length && timingSafeEqual(given, expected);
  } catch {
    return false;
  }
}

export const verifyEnvelope: Verify = (envelope, key) => isSignedWith(envelope, key);
