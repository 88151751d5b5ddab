// Agents as plain processes: a launcher per run, files between it and whoever drives.
import { existsSync } from 'node:fs';
import { requireDirectory, resolveCommand } from '../command.ts';
import { createMarks } from '../marks.ts';
import { PlaceError, type Transport } from '../transport.ts';
import { createActivity } from './activity.ts';
import { change } from './change.ts';
import { inject } from './inject.ts';
import { look } from './look.ts';
import type { HeadlessOptions, Parts } from './parts.ts';
import { interrupt, reap } from './reap.ts';

export function createHeadless({
  launcher,
  marksDir,
  clock,
  quietMs = 10_000,
  termMs = 5_000,
}: HeadlessOptions): Transport {
  const marks = createMarks(marksDir);
  const parts: Parts = { launcher, clock, quietMs, termMs, marks, activity: createActivity(clock) };
  return {
    name: 'headless',
    capabilities: {
      observesTurn: true,
      seesDialogs: false,
      ownsAgent: true,
      fences: true,
      reminds: false,
      settleMs: 10_000,
    },
    async preflight({ argv, cwd, env }) {
      requireDirectory(cwd);
      const [command] = argv;
      if (command === undefined || command === '') {
        throw new PlaceError('the agent has no command; configure one (command: [program, argument…])');
      }
      resolveCommand(command, cwd, env.PATH);
      if (!existsSync(launcher)) throw new PlaceError(`the launcher ${launcher} is missing; install stepward again`);
    },
    look: async (place) => look(parts, place),
    change: (place, ms, signal) => change(parts, place, ms, signal),
    takeMark: (place, owner, mayReplace) => marks.take(place.target, owner, mayReplace),
    dropMark: async (place, fence) => marks.drop(place.target, fence),
    inject: (place, hand) => inject(parts, place, hand),
    // A process that reads its brief from standard input takes no second text.
    remind: async () => {},
    interrupt: async (place, fence) => interrupt(parts, place, fence),
    clearOwnText: async () => {},
    reap: (place, fence) => reap(parts, place, fence),
  };
}
