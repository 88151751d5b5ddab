// What the job's effects work with, made once per driver.
import { join } from 'node:path';
import type { EffectEnv } from '../kernel/context.ts';
import type { DriverRecord, Registry, Row } from '../kernel/ports.ts';
import { attemptPaths, prepareAttempt, removeKey } from '../signals/attempt.ts';
import type { Bus } from '../signals/bus/types.ts';
import { verifyManifest } from '../signals/manifest.ts';
import type { Fence, Owner, Place, Transport, TransportName } from '../transports/transport.ts';
import { specOf } from './spec.ts';

/** What the effects do in the attempt's directory. */
export interface AttemptFiles {
  prepare: typeof prepareAttempt;
  removeKey(ref: Parameters<typeof attemptPaths>[0]): Promise<void>;
  verify: typeof verifyManifest;
}

export const attemptFiles: AttemptFiles = {
  prepare: prepareAttempt,
  removeKey: (ref) => removeKey(attemptPaths(ref)),
  verify: verifyManifest,
};

export interface Workshop {
  registry: Registry;
  /** Absolute. Its `runs/` holds what transports keep for an attempt, out of the agent's reach. */
  registryDir: string;
  transports: Readonly<Record<TransportName, Transport>>;
  files: AttemptFiles;
  isProvenDead(driver: DriverRecord): boolean;
  /** How the agent calls this build. */
  command: string;
  /** The environment that a started agent gets, before the profile's own variables. */
  childEnv(extra: Record<string, string>): Record<string, string>;
  /** Null: none is configured. Reading it connects. */
  readonly bus: Bus | null;
  /** Marks this driver has taken, by job, attempt and epoch: its effects share the number. */
  fences: Map<string, Promise<Fence | null>>;
}

/** An agent's silence of a tenth of its idle timeout says that it is no longer seen working, at most 10 s. */
const quietMsOf = (idleMs: number): number => Math.min(10_000, Math.max(100, Math.floor(idleMs / 10)));

/** What a transport keeps for an attempt: markers, exit status, the agent's output. */
export const runDirOf = (registryDir: string, row: Pick<Row, 'id' | 'attempt'>): string =>
  join(registryDir, 'runs', row.id, String(row.attempt));

export function placeOf(shop: Workshop, row: Row): Place {
  const spec = specOf(row);
  const dir = join(spec.cwd, '.stepward', row.id, String(row.attempt));
  return {
    job: row.id,
    attempt: row.attempt,
    target: spec.target,
    cwd: spec.cwd,
    runDir: runDirOf(shop.registryDir, row),
    brief: join(dir, 'brief.md'),
    argv: spec.argv,
    quietMs: quietMsOf(spec.limits.idle),
    env: shop.childEnv({
      ...spec.env,
      STEPWARD_ENV: join(dir, 'env.json'),
      STEPWARD_BRIEF: join(dir, 'brief.md'),
      STEPWARD_JOB: row.id,
      STEPWARD_ATTEMPT: String(row.attempt),
    }),
  };
}

export const transportOf = (shop: Workshop, row: Row): Transport => shop.transports[specOf(row).transport];

const RETRY_MS = 1_000;

/**
 * The session's mark for this driver's epoch, raised before its first look. While somebody else has it who may not be
 * replaced, this waits: the state's own timer decides how long. Null: aborted.
 */
export async function fenceOf(shop: Workshop, env: EffectEnv, row: Row): Promise<Fence | null> {
  const key = `${env.job}/${env.attempt}/${env.epoch}`;
  for (;;) {
    const known = shop.fences.get(key) ?? take(shop, env, row);
    shop.fences.set(key, known);
    const fence = await known.catch(() => null);
    if (fence) return fence;
    shop.fences.delete(key);
    if (env.signal.aborted) return null;
    await env.sleep(RETRY_MS);
    if (env.signal.aborted) return null;
  }
}

function take(shop: Workshop, env: EffectEnv, row: Row): Promise<Fence | null> {
  const owner: Owner = {
    registry: shop.registryDir,
    job: env.job,
    attempt: env.attempt,
    epoch: env.epoch,
    pid: env.driver.pid,
    started: env.driver.started,
  };
  return transportOf(shop, row).takeMark(placeOf(shop, row), owner, (holder) => mayReplace(shop, env, holder));
}

/** The registry is the truth: a mark of a job without the session, or of an older epoch, is a leftover. A mark of another
 *  registry is one only if its driver is proven dead. */
async function mayReplace(shop: Workshop, env: EffectEnv, holder: Owner): Promise<boolean> {
  if (holder.registry !== shop.registryDir) {
    return shop.isProvenDead({ ...env.driver, pid: holder.pid, started: holder.started });
  }
  const row = await shop.registry.load(holder.job);
  const session = row && (await shop.registry.sessionRow(row.session));
  return !row || session?.job !== holder.job || session.attempt !== holder.attempt || holder.epoch < row.epoch;
}
