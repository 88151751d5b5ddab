// Where this build lives: what a driver must name to others (the launcher it starts, the command an agent runs).
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quote } from '../transports/quote.ts';

/** Put in by the bundler; absent when the sources run under a test. */
declare const __STEPWARD_VERSION__: string | undefined;
const bundled = typeof __STEPWARD_VERSION__ === 'string';

/** Stamped on leases, log and drivers: a row says which build moved it. */
export const BUILD: string = bundled ? (__STEPWARD_VERSION__ as string) : 'source';

/** The bundle's folder; the sources use the bundle of the same tree. */
const dist = new URL(bundled ? './' : '../../dist/', import.meta.url);

export const launcherFile = (): string => fileURLToPath(new URL('launcher.mjs', dist));

/** The script of the command line of this very build, absolute. Throws if it is not there. */
export function entryFile(): string {
  const entry = fileURLToPath(new URL('stepward.cjs', dist));
  if (!existsSync(entry)) throw new Error(`this build is incomplete: ${entry} is missing; run npm run build`);
  return entry;
}

/** How any shell calls this very build: a `stepward` on the PATH may be another version, or missing. */
export const agentCommand = (): string => [process.execPath, entryFile()].map(quote).join(' ');
