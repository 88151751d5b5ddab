// Ctrl-C: the first asks, the second leaves at once. A person who presses twice means it.
import { isatty } from 'node:tty';
import { EXIT } from '../../machines/job/exit.ts';
import { leave, noteHangUp } from './hang-up.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupts {
  readonly signal: AbortSignal;
  close(): void;
}

export function watchInterrupts(goAway: () => void = () => leave(EXIT.interrupted)): Interrupts {
  const controller = new AbortController();
  // Asked now: a dead terminal says that it is none.
  const onTerminal = [0, 1, 2].some((fd) => isatty(fd));
  const onSignal = (name: NodeJS.Signals) => {
    if (name === 'SIGHUP' && onTerminal) noteHangUp();
    if (controller.signal.aborted) goAway();
    else controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    close() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
