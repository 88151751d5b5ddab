// All transports of this build.
import { createHeadless } from './headless/headless.ts';
import type { HeadlessOptions } from './headless/parts.ts';
import { createHuman } from './human/human.ts';
import type { Transport, TransportName } from './transport.ts';

export const createTransports = (options: HeadlessOptions): Readonly<Record<TransportName, Transport>> =>
  Object.freeze({ headless: createHeadless(options), human: createHuman(options) });
