// Shows how jobs go on until it is told to stop: on a terminal one line that is painted over, else a line whenever the state or
// the agent's words change.
import type { Registry } from '../kernel/ports.ts';
import { watchChanges } from './changes.ts';
import type { Context } from './context.ts';
import { humanLines, isHandedOver } from './human.ts';
import { type News, noNews, readNews } from './news.ts';
import { progressLine } from './progress.ts';
import { isEnded } from './status.ts';

interface Shown {
  news: News;
  state: string;
  said: string | null;
  /** The attempt whose brief was already shown to its human. */
  handedOver: number;
}

export async function follow(
  ctx: Context,
  registry: Registry,
  jobs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const shown = new Map<string, Shown>();
  const changes = watchChanges(registry);
  try {
    while (!signal.aborted) {
      for (const job of jobs) await show(ctx, registry, job, shown, jobs.length === 1 && ctx.out.live);
      await changes.next(signal);
    }
  } finally {
    changes.close();
    ctx.out.paint('');
  }
}

async function show(
  ctx: Context,
  registry: Registry,
  job: string,
  all: Map<string, Shown>,
  repaint: boolean,
): Promise<void> {
  const { out } = ctx;
  const row = await registry.load(job);
  if (!row) return;
  const before = all.get(job) ?? { news: noNews, state: '', said: null, handedOver: 0 };
  const news = await readNews(registry, job, before.news);
  const handedOver = isHandedOver(row) ? row.attempt : before.handedOver;
  all.set(job, { news, state: row.state, said: news.last, handedOver });
  if (handedOver !== before.handedOver) for (const line of humanLines(row)) out.say(line);
  // The end is told by whoever waits for it, with the result.
  if (isEnded(row)) return out.paint('');
  const timers = await registry.timers(job);
  const line = (width: number) => progressLine({ row, timers, news }, registry.now(), width, out.talk);
  if (repaint) out.paint(line(out.width));
  else if (row.state !== before.state || news.last !== before.said) out.say(line(Number.POSITIVE_INFINITY));
}
