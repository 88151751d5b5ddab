// What runs in the world after a row of decisions: timers and effects, folded from the actions that XState gives. Written
// apart from src/kernel/decide.ts, so that one can be compared with the other.
import { internal } from './events.ts';
import type { Action } from './graph.ts';

export interface Running {
  /** Name of the delay → ms and the number of the decision that armed it: a re-armed timer is another one. */
  timers: ReadonlyMap<string, { ms: number; since: number }>;
  /** Invoke ids. */
  effects: ReadonlySet<string>;
  /** Plans that ends have written down. */
  cleanups: readonly unknown[];
  decisions: number;
}

export const nothing = (): Running => ({ timers: new Map(), effects: new Set(), cleanups: [], decisions: 0 });

interface Params {
  id: string;
  delay: number;
  sendId: string;
  event: { type: string };
}

const delayOf = (timerId: string): string => timerId.replace(/^xstate\.after\./, '').split('.')[0] ?? '';

export function after(before: Running, actions: readonly Action[]): Running {
  if (actions.length === 0) return before;
  const timers = new Map(before.timers);
  const effects = new Set(before.effects);
  const cleanups = [...before.cleanups];
  const decisions = before.decisions + 1;
  for (const { type, params } of actions) {
    const { id, delay, sendId } = (params ?? {}) as Params;
    if (type === 'xstate.raise') timers.set(delayOf(id), { ms: delay, since: decisions });
    else if (type === 'xstate.cancel') timers.delete(delayOf(sendId));
    else if (type === 'xstate.spawnChild') start(effects, id);
    else if (type === 'xstate.stopChild') effects.delete(id);
    else if (type === 'cleanup') cleanups.push(params);
    else throw new Error(`the model does not know the action ${type}`);
  }
  return { timers, effects, cleanups, decisions };
}

function start(effects: Set<string>, id: string): void {
  if (effects.has(id)) throw new Error(`effect ${id} is started while it runs`);
  effects.add(id);
}

/** A result ends its effect and a timer that fires is used up, whatever the machine then does. */
export function consumed(running: Running, event: { type: string }): Running {
  const { kind, name } = internal(event.type);
  if (kind === null) return running;
  const timers = new Map(running.timers);
  const effects = new Set(running.effects);
  if (kind === 'timer') timers.delete(name);
  else effects.delete(name);
  return { ...running, timers, effects };
}
