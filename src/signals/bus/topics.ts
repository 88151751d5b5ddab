// The topics of the bus (docs/design.md section 6). Frozen words: watchers and brokers' ACLs outside of Stepward are written against
// them. Loaded by `emit`: nothing heavy here.
import { isCount, isJobId } from '../names.ts';

export const TOPIC_VERSION = 'v1';

/** Words between slashes: no wildcard, no empty level, nothing that begins like a broker's own `$SYS`. */
const PREFIX = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
const HOST = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const isTopicPrefix = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 200 && PREFIX.test(value);

/** Every topic of ours begins so. */
export const rootOf = (prefix: string): string => `${prefix}/${TOPIC_VERSION}/`;

const jobRoot = (prefix: string, job: string): string => `${rootOf(prefix)}jobs/${job}/`;

export const eventsTopic = (prefix: string, job: string, attempt: number): string =>
  `${jobRoot(prefix, job)}${attempt}/events`;
/** A filter: the events of every attempt of a job, so that one of a former attempt is seen and refused, not lost. */
export const eventsFilter = (prefix: string, job: string): string => `${jobRoot(prefix, job)}+/events`;
export const receiptsTopic = (prefix: string, job: string, attempt: number): string =>
  `${jobRoot(prefix, job)}${attempt}/receipts`;
/** @param job `+`: of all. */
export const stateTopic = (prefix: string, job: string): string => `${jobRoot(prefix, job)}state`;
/** @param host `+`: all. */
export const hostTopic = (prefix: string, host: string): string => `${rootOf(prefix)}hosts/${host}`;

export type ParsedTopic =
  | { kind: 'events' | 'receipts'; job: string; attempt: number }
  | { kind: 'state'; job: string }
  | { kind: 'host'; host: string };

/** Null: none of ours. A filter with wildcards is none either. */
export function parseTopic(prefix: string, topic: string): ParsedTopic | null {
  const root = rootOf(prefix);
  if (!topic.startsWith(root)) return null;
  const [kind, name = '', ...rest] = topic.slice(root.length).split('/');
  if (kind === 'hosts') return rest.length === 0 && HOST.test(name) ? { kind: 'host', host: name } : null;
  if (kind !== 'jobs' || !isJobId(name)) return null;
  if (rest.length === 1) return rest[0] === 'state' ? { kind: 'state', job: name } : null;
  const [attempt = '', what] = rest;
  if (rest.length !== 2 || (what !== 'events' && what !== 'receipts')) return null;
  // `01` and `1e0` are other topics than `1`.
  return /^[1-9]\d*$/.test(attempt) && isCount(Number(attempt))
    ? { kind: what, job: name, attempt: Number(attempt) }
    : null;
}
