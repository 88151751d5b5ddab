// Ctrl-C: the first asks, the second leaves at once. A person who presses twice means it.
import { EXIT } from '../../machines/job/exit.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupts {
  readonly signal: AbortSignal;
  close(): void;
}

export function watchInterrupts(leave: () => void = () => process.exit(EXIT.interrupted)): Interrupts {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) leave();
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
