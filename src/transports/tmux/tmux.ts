// Agents that live in panes of tmux, where people see them and type as well.
import { REMINDER_STEP } from '../../../machines/job/vocabulary.ts';
import type { Hand, Place, Transport } from '../transport.ts';
import { probePaste } from './capabilities.ts';
import { change } from './change.ts';
import { createTmux } from './client.ts';
import { look } from './look.ts';
import { dropMark, NOWHERE, takeMark } from './mark.ts';
import { isPaneId } from './pane.ts';
import { type Parts, TIMES, type TmuxOptions } from './parts.ts';
import { preflight } from './preflight.ts';
import { promptLine, reminderLine } from './prompt.ts';
import { createPulse } from './pulse.ts';
import { clearOwnText, interrupt, reap } from './stop.ts';
import { type } from './type.ts';
import type { Typing } from './typing.ts';

export function createTmuxTransport(options: TmuxOptions): Transport {
  const parts = createParts(options);
  const { tmux } = parts;
  return {
    name: 'tmux',
    capabilities: {
      observesTurn: true,
      seesDialogs: true,
      // Somebody started it and goes on using it; a pane that Stepward opened for one attempt is closed by reap all the same.
      ownsAgent: false,
      fences: true,
      reminds: true,
      settleMs: 60_000,
    },
    preflight: (place) => preflight(parts, place),
    look: (place) => look(parts, place),
    change: (place, ms, signal) => change(parts, place, ms, signal),
    takeMark: async ({ target }, owner, mayReplace) =>
      isPaneId(target) ? takeMark(tmux, target, owner, mayReplace) : NOWHERE,
    dropMark: async ({ target }, fence) => {
      if (isPaneId(target)) await dropMark(tmux, target, fence);
    },
    inject: (place, hand) => type(promptTo(parts, place, hand)),
    async remind(place, hand) {
      // Only a prompt that was submitted can be reminded of.
      if ((await hand.inspect('enter')).state !== 'not-started') await type(reminderTo(parts, place, hand));
    },
    interrupt: (place, fence) => interrupt(parts, place, fence),
    clearOwnText: (place, fence) => clearOwnText(parts, place, fence),
    reap: (place, fence) => reap(parts, place, fence),
  };
}

function createParts(options: TmuxOptions): Parts {
  const tmux = createTmux(options);
  /** By the server's version: a host outlives servers. */
  const flags = new Map<string, Promise<readonly string[]>>();
  return {
    tmux,
    clock: options.clock,
    times: { ...TIMES, ...options.times },
    pulse: createPulse(tmux),
    sightOf: options.sightOf,
    pasteFlags(version) {
      const known = flags.get(version);
      if (known) return known;
      const probed = probePaste(tmux);
      flags.set(version, probed);
      probed.catch(() => flags.delete(version));
      return probed;
    },
  };
}

const promptTo = (parts: Parts, place: Place, hand: Hand): Typing => ({
  parts,
  place,
  hand,
  which: 'prompt',
  steps: { paste: 'paste', enter: 'enter', again: 'enter-again' },
  line: promptLine(place),
});

const reminderTo = (parts: Parts, place: Place, hand: Hand): Typing => ({
  parts,
  place,
  hand,
  which: 'reminder',
  steps: { paste: REMINDER_STEP, enter: 'remind-enter', again: 'remind-enter-again' },
  line: reminderLine(place),
});
