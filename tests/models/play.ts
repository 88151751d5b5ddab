// The pure kernel, played: begin and decide with every snapshot sent through JSON in between, as the registry would.
import { jobDefinition } from '../../src/jobs/definition.ts';
import { begin, type Decision, decide } from '../../src/kernel/decide.ts';
import type { EffectWrite, Json } from '../../src/kernel/ports.ts';
import { type Edge, INPUT } from './graph.ts';

export const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Another object with the same content: the kernel's memory of snapshots it has already brought to life does not know it. */
export const throughStore = (decision: Decision): Decision => plain(decision);

export const beginning = (): Decision => throughStore(begin(jobDefinition, plain(INPUT) as Json));

/** Every decision of a way, the first one included. The last one is what the way leads to. */
export function played(way: readonly Edge[]): Decision[] {
  const decisions = [beginning()];
  for (const { event } of way) {
    const before = decisions.at(-1)?.next.snapshot;
    if (before) decisions.push(throughStore(decide(jobDefinition, before, plain(event))));
  }
  return decisions;
}

/** What a decision asks of the world, in words that do not depend on how the kernel or XState put it. */
export const wordsOf = (effects: readonly EffectWrite[]): string[] => effects.map(wordOf);

function wordOf(effect: EffectWrite): string {
  switch (effect.kind) {
    case 'arm':
      return `arm ${effect.timer.id} ${effect.afterMs} ${effect.timer.delay} ${effect.timer.event.type}`;
    case 'disarm':
      return `disarm ${effect.timerId}`;
    case 'invoke':
      return `start ${effect.invokeId} ${effect.src} ${JSON.stringify(effect.input)}`;
    case 'stop':
      return `stop ${effect.invokeId}`;
    case 'cleanup':
      return `cleanup ${JSON.stringify(effect.input)}`;
  }
}

interface Params {
  id: string;
  src: string;
  delay: number;
  sendId: string;
  event: { type: string };
}

/** The same words, from XState's own actions. */
export function wordsOfActions(actions: Edge['actions']): string[] {
  return actions.map(({ type, params }) => {
    const { id, src, delay, sendId, event } = (params ?? {}) as Params;
    switch (type) {
      case 'xstate.raise':
        return `arm ${event.type} ${delay} ${event.type.split('.')[2]} ${event.type}`;
      case 'xstate.cancel':
        return `disarm ${sendId}`;
      case 'xstate.spawnChild':
        return `start ${id} ${src} null`;
      case 'xstate.stopChild':
        return `stop ${id}`;
      default:
        return `${type} ${JSON.stringify(params)}`;
    }
  });
}
