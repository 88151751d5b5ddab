// `TRANSPORT:TARGET`, the name of a session (docs/design.md section 2).
import { TRANSPORTS, type TransportName } from '../transports/transport.ts';

export interface Session {
  transport: TransportName;
  target: string;
}

/** A target becomes the name of a directory that holds the session's marks: no separators, no dots alone, no spaces. */
const TARGET = /^[A-Za-z0-9%@_][A-Za-z0-9%@_.-]{0,63}$/;

export const SESSION_FORM =
  `${TRANSPORTS.map((name) => `${name}:TARGET`).join(', ')}` +
  ', where TARGET is 1 to 64 of the characters A-Z a-z 0-9 % @ _ . -';

/** Null: not a session's name. */
export function parseSession(text: string): Session | null {
  const colon = text.indexOf(':');
  const transport = TRANSPORTS.find((name) => name === text.slice(0, colon));
  const target = text.slice(colon + 1);
  return colon > 0 && transport && TARGET.test(target) ? { transport, target } : null;
}

/** A job that names no session gets one of its own, named after the job when that is registered, so that it waits for nobody. */
export const OWN_TARGET = '';
