import { testTransport } from './conformance.ts';
import { createHeadlessRig } from './headless-rig.ts';

const capabilities = {
  observesTurn: true,
  seesDialogs: false,
  ownsAgent: true,
  fences: true,
  reminds: false,
  settleMs: 10_000,
};

testTransport('headless', capabilities, async () => createHeadlessRig());
