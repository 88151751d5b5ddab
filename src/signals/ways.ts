// The ways in of the attempts that this driver drives. The inbox is the registry's own; here is the spool, copied into it.
import type { Envelope, Registry } from '../kernel/ports.ts';
import { makeSpool } from './directories.ts';
import { requestOf } from './envelope.ts';
import { type AttemptRef, attemptPaths } from './paths.ts';
import { verifyEnvelope } from './signature.ts';
import { collectSpool, SpoolError } from './spool.ts';
import { type SpoolWatch, watchSpool } from './watch.ts';

export interface Ways {
  /**
   * Confirms that the spool is open: watched, and what lies in it is in the inbox. From then on whatever arrives is copied into
   * the inbox at once and told by `onNews`. Idempotent; a new attempt of the same job closes the old one's. Throws if the spool
   * cannot be made or watched, or if the registry does not take what is in it.
   */
  open(way: AttemptRef, onNews: () => void): Promise<void>;
  /** Spool → inbox, now, whether open or not. Gives how many envelopes were taken; throws what `registry.deliver` throws. */
  collect(way: AttemptRef): Promise<number>;
  close(job: string): void;
  closeAll(): void;
}

type Needs = Pick<Registry, 'deliver' | 'note' | 'load'>;

interface Open {
  way: AttemptRef;
  watch: SpoolWatch;
  onNews: () => void;
}

export function createWays(registry: Needs): Ways {
  const open = new Map<string, Open>();
  // One collector of a spool at a time: two would hand every file over twice.
  const turns = new Map<string, Promise<unknown>>();
  const opening = new Map<string, Promise<void>>();
  /** What was asked for last: a job that is closed while its way is being opened stays closed. */
  const wanted = new Map<string, string>();
  const told = new Set<string>();

  function collect(way: AttemptRef): Promise<number> {
    const place = placeKey(way);
    const turn = (turns.get(place) ?? Promise.resolve()).catch(() => {}).then(() => collectNow(registry, way, told));
    turns.set(place, turn);
    const done = () => {
      if (turns.get(place) === turn) turns.delete(place);
    };
    turn.then(done, done);
    return turn;
  }

  /** A burst of hints makes one collection that runs and one that waits. */
  function whenTold(way: AttemptRef): () => void {
    let waiting = false;
    return () => {
      if (waiting) return;
      waiting = true;
      queueMicrotask(async () => {
        await turns.get(placeKey(way))?.catch(() => {});
        waiting = false;
        try {
          const taken = await collect(way);
          if (taken > 0) open.get(way.job)?.onNews();
        } catch {
          // The files stay where they are, the poll tries again, and a collection that somebody waits for throws.
        }
      });
    };
  }

  async function openNow(way: AttemptRef, onNews: () => void): Promise<void> {
    const before = open.get(way.job);
    if (before && placeKey(before.way) === placeKey(way)) {
      before.onNews = onNews;
      return;
    }
    drop(way.job);
    await makeSpool(way);
    const watch = await watchSpool(attemptPaths(way), whenTold(way));
    if (wanted.get(way.job) !== placeKey(way)) {
      watch.close();
      throw new SpoolError(`the spool of job ${way.job}, attempt ${way.attempt} was closed while it was opened`);
    }
    open.set(way.job, { way, watch, onNews });
    try {
      if ((await collect(way)) > 0) onNews();
    } catch (error) {
      drop(way.job);
      throw error;
    }
  }

  function drop(job: string): void {
    open.get(job)?.watch.close();
    open.delete(job);
  }
  function close(job: string): void {
    wanted.delete(job);
    drop(job);
  }

  return {
    open(way, onNews) {
      wanted.set(way.job, placeKey(way));
      // One after the other: two openings at once would leave a watch that nobody closes.
      const turn = (opening.get(way.job) ?? Promise.resolve()).catch(() => {}).then(() => openNow(way, onNews));
      opening.set(way.job, turn);
      const done = () => {
        if (opening.get(way.job) === turn) opening.delete(way.job);
      };
      turn.then(done, done);
      return turn;
    },
    collect,
    close,
    closeAll() {
      for (const job of [...wanted.keys()]) close(job);
    },
  };
}

const placeKey = ({ job, attempt, cwd }: AttemptRef): string => JSON.stringify([job, attempt, cwd]);

async function collectNow(registry: Needs, way: AttemptRef, told: Set<string>): Promise<number> {
  const { job, attempt } = way;
  let key: string | null | undefined;
  return collectSpool(attemptPaths(way), {
    job,
    attempt,
    told,
    async inspect(envelope: Envelope) {
      key ??= await keyOf(registry, job, attempt);
      return key !== null && !verifyEnvelope(envelope, key)
        ? 'bad_signature: it is not signed with the key of this attempt'
        : null;
    },
    async deliver(envelope) {
      await registry.deliver(requestOf(envelope), job, 'spool');
    },
    refused: ({ file, why }) =>
      registry.note(job, {
        from: 'agent',
        what: 'spool',
        verdict: 'refused',
        reason: why,
        data: { file, attempt },
      }),
  });
}

/** Null where the row knows no key of this attempt: then the lease holder judges alone. A forged envelope must not get into the
 *  inbox before a true one with the same id, which would be given its refusal. */
async function keyOf(registry: Needs, job: string, attempt: number): Promise<string | null> {
  const row = await registry.load(job);
  return row?.attempt === attempt ? row.key : null;
}
