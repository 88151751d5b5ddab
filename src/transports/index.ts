// All transports of this build.
import { createHeadless } from './headless/headless.ts';
import type { HeadlessOptions } from './headless/parts.ts';
import { createHuman } from './human/human.ts';
import type { TmuxOptions } from './tmux/parts.ts';
import { createTmuxTransport } from './tmux/tmux.ts';
import type { Transport, TransportName } from './transport.ts';

export interface TransportsOptions extends HeadlessOptions {
  /** Which agents can be read in a pane, and where the panes are. Absent: none can, and preflight says so. */
  tmux?: Omit<TmuxOptions, 'clock'>;
}

export const createTransports = (options: TransportsOptions): Readonly<Record<TransportName, Transport>> =>
  Object.freeze({
    headless: createHeadless(options),
    human: createHuman(options),
    tmux: createTmuxTransport({ sightOf: () => null, ...options.tmux, clock: options.clock }),
  });
