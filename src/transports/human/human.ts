// A person, or a script that nobody started here, does the work: nothing is typed and nothing observed. The brief is a file,
// the command shows where; whoever takes it emits the events.
import type { Clock } from '../../kernel/ports.ts';
import { requireDirectory } from '../command.ts';
import { createMarks } from '../marks.ts';
import type { Transport } from '../transport.ts';

const HAND_OVER_MS = 1_000;

export interface HumanOptions {
  marksDir: string;
  clock: Clock;
}

export function createHuman({ marksDir, clock }: HumanOptions): Transport {
  const marks = createMarks(marksDir);
  return {
    name: 'human',
    capabilities: {
      observesTurn: false,
      seesDialogs: false,
      ownsAgent: false,
      fences: false,
      reminds: false,
      settleMs: 0,
    },
    preflight: async ({ cwd }) => requireDirectory(cwd),
    look: async () => ({ alive: true, hold: null, turn: 'hidden', nonce: false, clean: true, detail: null }),
    change: (_, ms, signal) => clock.sleep(ms, signal),
    takeMark: (place, owner, mayReplace) => marks.take(place.target, owner, mayReplace),
    dropMark: async (place, fence) => marks.drop(place.target, fence),
    async inject(place, hand) {
      const outcome = await hand.once({
        name: 'hand-over',
        may: () => marks.isNewest(place.target, hand.fence),
        act: () => {},
        limitMs: HAND_OVER_MS,
      });
      switch (outcome) {
        case 'withheld':
          return 'rejected';
        case 'lost':
          return 'unknown';
        case 'done':
        // A former driver may have died before the brief was shown: it is a file, and showing it again harms nobody.
        case 'unproven':
          return 'accepted';
      }
    },
    remind: async () => {},
    interrupt: async () => {},
    clearOwnText: async () => {},
    reap: async () => {},
  };
}
