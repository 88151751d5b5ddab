import { testTransport } from './conformance.ts';
import { createTmuxRig } from './tmux/rig.ts';

const capabilities = {
  observesTurn: true,
  seesDialogs: true,
  ownsAgent: false,
  fences: true,
  reminds: true,
  settleMs: 60_000,
};

testTransport('tmux', capabilities, () => createTmuxRig());
