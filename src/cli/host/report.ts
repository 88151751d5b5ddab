// What a host tells: short lines on a terminal, else JSON lines, since nobody but a program reads the log of a service.
import { formatDuration } from '../durations.ts';
import type { Output } from '../io.ts';
import { clock } from '../log-line.ts';
import { iso } from '../status.ts';

export type What = 'started' | 'adopted' | 'ended' | 'released' | 'warning' | 'refused' | 'failed' | 'stopping';

export interface HostNews {
  what: What;
  message: string;
  job?: string;
  /** More for programs: `status`, `reason`, … */
  data?: Record<string, unknown>;
}

export interface Report {
  tell(news: HostNews): void;
  /** Trouble that is tried again every second is told once a minute, and how often it has come. */
  warn(message: string): void;
}

const LEVELS: Partial<Record<What, 'warn' | 'error'>> = { warning: 'warn', refused: 'error', failed: 'error' };
const WIDTH = 'stopping'.length;
const REPEAT_MS = 60_000;

export function createReport(out: Output): Report {
  const isForPeople = out.live && !out.json;
  const told = new Map<string, { at: number; hushed: number }>();

  function lineOf({ what, message, job, data }: HostNews): string {
    const now = Date.now();
    if (isForPeople) {
      const word = LEVELS[what] ? out.talk.yellow(what) : out.talk.cyan(what);
      const pad = ' '.repeat(Math.max(0, WIDTH - what.length));
      return `${clock(now)}  ${word}${pad} ${job ? `${job}  ` : ''}${message}`;
    }
    const level = LEVELS[what] ?? 'info';
    return JSON.stringify({ at: iso(now), level, what, ...(job && { job }), message, ...data });
  }
  const tell = (news: HostNews): void => out.say(lineOf(news));

  return {
    tell,
    warn(message) {
      const now = performance.now();
      const before = told.get(message);
      if (before && now - before.at < REPEAT_MS) {
        before.hushed++;
        return;
      }
      for (const [known, { at }] of told) if (now - at >= REPEAT_MS) told.delete(known);
      told.set(message, { at: now, hushed: 0 });
      const often = before?.hushed
        ? ` (${before.hushed} times more in the last ${formatDuration(now - before.at)})`
        : '';
      tell({ what: 'warning', message: `${message}${often}` });
    },
  };
}
