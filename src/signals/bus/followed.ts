// Which jobs' events are wanted, and which of them the broker has confirmed. Wanted and confirmed are made equal on whatever
// connection stands; a new connection begins with nothing.
import type { Link } from './link.ts';
import type { Troubles } from './troubles.ts';
import { BusError } from './types.ts';

export interface Followed {
  follow(job: string, onNews: () => void): void;
  unfollow(job: string): void;
  hears(job: string): boolean;
  tellNews(job: string): void;
  /** The connection that stands now, or none. */
  use(link: Link | null): void;
}

interface Needs {
  filterOf(job: string): string;
  /** Throws if the subscription is worth nothing. */
  prove(link: Link, job: string): Promise<void>;
  changed(): void;
  troubles: Troubles;
}

/** A broker's rules may be mended while it runs. */
const AGAIN_MS = 3000;

export function createFollowed({ filterOf, prove, changed, troubles }: Needs): Followed {
  const wanted = new Map<string, () => void>();
  const confirmed = new Set<string>();
  const settling = new Set<string>();
  const again = new Map<string, NodeJS.Timeout>();
  let link: Link | null = null;

  /** One at a time for each job: whatever is asked meanwhile is seen in the next turn. */
  async function settle(job: string): Promise<void> {
    if (settling.has(job)) return;
    settling.add(job);
    try {
      for (let on = link; on && wanted.has(job) !== confirmed.has(job); on = link) {
        try {
          if (wanted.has(job)) await subscribe(on, job);
          else await unsubscribe(on, job);
        } catch (error) {
          if (on !== link) continue;
          // Lost: the next connection begins anew. Denied: it may not stay so.
          if (error instanceof BusError && error.code === 'denied') later(job, error.message);
          return;
        }
      }
    } finally {
      settling.delete(job);
    }
  }

  async function subscribe(on: Link, job: string): Promise<void> {
    await on.subscribe(filterOf(job));
    try {
      await prove(on, job);
    } catch (error) {
      await on.unsubscribe(filterOf(job)).catch(() => {});
      throw error;
    }
    if (on !== link) return;
    confirmed.add(job);
    troubles.over(`follow ${job}`, `the broker sends the events of job ${job}`);
    changed();
  }

  async function unsubscribe(on: Link, job: string): Promise<void> {
    confirmed.delete(job);
    changed();
    await on.unsubscribe(filterOf(job));
  }

  function later(job: string, why: string): void {
    troubles.begin(`follow ${job}`, why);
    const timer = setTimeout(() => {
      again.delete(job);
      void settle(job);
    }, AGAIN_MS);
    timer.unref();
    again.set(job, timer);
  }

  function forget(job: string): void {
    clearTimeout(again.get(job));
    again.delete(job);
  }

  return {
    follow(job, onNews) {
      wanted.set(job, onNews);
      if (!again.has(job)) void settle(job);
    },
    unfollow(job) {
      wanted.delete(job);
      forget(job);
      troubles.drop(`follow ${job}`);
      void settle(job);
    },
    hears: (job) => wanted.has(job) && confirmed.has(job),
    tellNews: (job) => wanted.get(job)?.(),
    use(next) {
      link = next;
      confirmed.clear();
      for (const job of [...again.keys()]) forget(job);
      for (const job of wanted.keys()) void settle(job);
    },
  };
}
