// News from the registry: everything is known.
import { specOf } from '../../jobs/spec.ts';
import { stateObject } from '../../jobs/status.ts';
import type { LogRow, Registry, Row } from '../../kernel/ports.ts';
import { watchChanges } from '../changes.ts';
import { holderOf, needsDriver } from '../holder.ts';
import type { Colors } from '../io.ts';
import { logLine } from '../log-line.ts';
import { logAfter } from '../news.ts';
import { isEnded, statusObject } from '../status.ts';
import type { Seen, Source } from './source.ts';

/** An effect's late result is evidence for an investigation; in a picture it looks like an error. */
const isNews = ({ reason }: LogRow): boolean => reason !== 'stale_result';

/** Ended jobs that the overview begins with, so that it is not empty in the morning. */
const ENDED_AT_FIRST = 5;
const HAPPENED = 12;

/** @param jobs null: all that are open, and those that end meanwhile. */
export function registrySource(registry: Registry, dir: string, jobs: readonly string[] | null, ink: Colors): Source {
  const changes = watchChanges(registry);
  /** Shown once, shown until the end: a job must not vanish at the moment it becomes interesting. */
  const shown = new Set<string>();

  async function rows(): Promise<Row[]> {
    if (jobs) return (await Promise.all(jobs.map((job) => registry.load(job)))).filter((row) => row !== undefined);
    if (shown.size === 0) {
      const ended = (await registry.list({ limit: 100 })).filter((row) => !needsDriver(row));
      for (const { id } of ended.slice(-ENDED_AT_FIRST)) shown.add(id);
    }
    const open = await registry.list({ open: true });
    for (const { id } of open) shown.add(id);
    const ended = [...shown].filter((id) => !open.some((row) => row.id === id));
    const others = (await Promise.all(ended.map((id) => registry.load(id)))).filter((row) => row !== undefined);
    return [...others, ...open].sort((a, b) => a.createdAt - b.createdAt);
  }

  async function seen(row: Row): Promise<Seen> {
    const timers = isEnded(row) ? [] : await registry.timers(row.id);
    const driven = needsDriver(row) ? (await holderOf(registry, row.id)) !== null : null;
    const { agent, title } = specOf(row);
    const log = jobs?.length === 1 ? (await logAfter(registry, row.id, 0)).filter(isNews).slice(-HAPPENED) : [];
    return {
      state: stateObject(row, timers),
      agent,
      title,
      driven,
      object: { ...statusObject(row, timers), driven },
      happened: log.map((entry) => logLine(entry, ink)),
    };
  }

  return {
    label: () => dir,
    now: () => registry.now(),
    read: async () => Promise.all((await rows()).map(seen)),
    next: (signal) => changes.next(signal),
    async close() {
      changes.close();
    },
  };
}
