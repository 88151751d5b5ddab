// Tells when a pane may show something new. One call of tmux for all panes that are waited for, whatever their number; only a pane
// that was written to is then looked at. tmux keeps that time in whole seconds, so news within the second of a look count as news.
import type { Tmux } from './client.ts';
import type { PaneView } from './pane.ts';
import { pause } from './real-time.ts';

const EVERY_MS = 250;
/** A working agent draws all the time, and a server that is gone is always news: neither must be looked at all the time. */
const THROTTLE_MS = 250;

const FIELDS = ['pane_id', 'window_activity', 'pane_dead', 'pane_in_mode', 'pane_pid', 'pane_title'];
const FORMAT = FIELDS.map((field) => `#{${field}}`).join('|');

interface Shown {
  /** Epoch ms before the look. */
  lookedAt: number;
  /** Null: nothing was there. */
  signature: string | null;
}

export interface Pulse {
  /** Notes what a look found; null: nothing was there. */
  seen(pane: string, view: PaneView | null): void;
  /** Resolves when the pane may have changed since the last look, or when the signal aborts. */
  change(pane: string, signal: AbortSignal): Promise<void>;
}

interface Waiter {
  pane: string;
  /** What the last look before the wait found; a waiter that never looked has seen nothing. */
  known: Shown;
  wake: () => void;
}

export function createPulse(tmux: Tmux): Pulse {
  const shown = new Map<string, Shown>();
  const waiting = new Set<Waiter>();
  let resting: AbortController | null = null;

  async function beat(): Promise<void> {
    // Trouble with the server is news as well: the look says which.
    const lines = await tmux.run(['list-panes', '-a', '-F', FORMAT]).then(
      (printed) => new Map(printed.split('\n').map((line) => [line.slice(0, line.indexOf('|')), line])),
      () => new Map<string, string>(),
    );
    for (const { pane, known, wake } of [...waiting]) if (mayBeNew(known, lines.get(pane))) wake();
  }

  let isRunning = false;
  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (waiting.size > 0) {
      await beat();
      resting = new AbortController();
      if (waiting.size > 0) await pause(EVERY_MS, resting.signal);
    }
    isRunning = false;
  }

  return {
    seen(pane, view) {
      const lookedAt = Date.now() - (view ? performance.now() - view.at : 0);
      shown.set(pane, { lookedAt, signature: view && signatureOf(view) });
    },
    change: (pane, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const done = () => {
          waiting.delete(waiter);
          signal.removeEventListener('abort', done);
          if (waiting.size === 0) resting?.abort();
          resolve();
        };
        const known = shown.get(pane) ?? { lookedAt: Date.now(), signature: null };
        const waiter: Waiter = { pane, known, wake: done };
        signal.addEventListener('abort', done, { once: true });
        waiting.add(waiter);
        void run();
      }),
  };
}

const signatureOf = ({ dead, inMode, pid, title }: PaneView): string =>
  [dead ? 1 : 0, inMode ? 1 : 0, pid, title].join('|');

function mayBeNew({ lookedAt, signature }: Shown, line: string | undefined): boolean {
  if (Date.now() - lookedAt < THROTTLE_MS) return false;
  if (line === undefined) return true;
  const [, activity = '', dead, inMode, ...rest] = line.split('|');
  if ([dead, inMode === '0' ? 0 : 1, ...rest].join('|') !== signature) return true;
  return Number(activity) >= Math.floor(lookedAt / 1_000);
}
