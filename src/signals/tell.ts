// One event of an agent on its way in, from the door to the way that took it (docs/design.md section 6).
import type { AgentEventType } from '../../machines/job/vocabulary.ts';
import type { Registry } from '../kernel/ports.ts';
import { atTheDoor, type Turned } from './door.ts';
import { makeEnvelope } from './envelope.ts';
import { InputError } from './errors.ts';
import { type HandedOver, handOver } from './hand-over.ts';
import { type Located, readKey } from './locate.ts';
import { finalizeReport, verifyManifest } from './manifest.ts';
import { nextSeq } from './seq.ts';

export interface News {
  type: AgentEventType;
  detail: string | undefined;
  /** For `completed`: finalized first. Relative to `from`. */
  report: string | undefined;
  artifacts: string[];
  from: string;
  /** The agent's clock, ms. */
  now: number;
}

/** The registry, or why it is out of reach. */
export type Reach = Registry | { unreachable: string };

export type Told =
  /** Answered from the row alone: nothing was signed. */
  { turned: Turned } | { handed: HandedOver; id: string; seq: number; manifest: string | null };

/** Throws AttemptError `no_key`, InputError (the report), NoWayError. */
export async function tell(news: News, located: Located, registry: Reach): Promise<Told> {
  const { type, detail, now } = news;
  const { job, attempt, paths } = located;
  // Undefined: no such row. Null: nobody can look, as in a sandbox; then the lease holder judges alone.
  const seen = 'unreachable' in registry ? null : await registry.peek(job).catch(() => null);
  const turned = seen === null ? null : atTheDoor(type, attempt, seen);
  if (turned) {
    if (!('unreachable' in registry)) await note(registry, type, located, turned);
    return { turned };
  }
  const key = await readKey(paths);
  // A report that is being verified must not change: `completed`, said again, would make the first one's report invalid.
  const isHandedIn = seen?.phase === 'finalizing' && seen.outcome?.status === 'completed';
  const manifest = type === 'completed' ? await manifestOf(news, located, key, isHandedIn) : undefined;
  const seq = await nextSeq(paths.seq);
  const event = { type, ...(detail !== undefined && { detail }), ...(manifest !== undefined && { manifest }) };
  const envelope = makeEnvelope({ job, attempt, seq, event, now }, key);
  return { handed: await handOver(registry, envelope, located, key), id: envelope.id, seq, manifest: manifest ?? null };
}

/** sha256 of the manifest that a `completed` names. */
async function manifestOf(news: News, located: Located, key: string, isHandedIn: boolean): Promise<string> {
  if (news.report !== undefined && !isHandedIn) return (await finalizeReport({ ...located, ...news, key })).sha256;
  const present = await verifyManifest({ ...located, key });
  if (present.valid) return present.sha256;
  throw new InputError(
    '--report',
    null,
    `is missing, and ${present.why}`,
    'a report, or one that `report finalize` took',
  );
}

/** What is told at the door is logged too. If the log cannot be written, the answer stands. */
const note = (
  registry: Registry,
  what: string,
  { job, attempt }: Located,
  { verdict, reason }: Turned,
): Promise<void> =>
  registry.note(job, { from: 'agent', what, verdict, reason, data: { attempt, way: 'door' } }).catch(() => {});
