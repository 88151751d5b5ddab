// Do the registry's timers and open outbox rows say the same as the snapshot? Worked out here from XState's state nodes, not
// with the kernel's own code.
import { type AnyStateMachine, type AnyStateNode, createActor } from 'xstate';
import { jobMachine } from '../../machines/job/machine.ts';
import { isEnd } from '../../machines/job/vocabulary.ts';
import { FAULT_TIMER } from '../../src/kernel/faults.ts';
import type { Registry, Row } from '../../src/kernel/ports.ts';

export interface Unseen {
  /** Nothing can be said about a running turn. */
  blind: boolean;
  /** The drivers have no bus. */
  busless: boolean;
}

/** Sentences; none: they agree. */
export async function driftOf(registry: Registry, row: Row, { blind, busless }: Unseen): Promise<string[]> {
  const work = await registry.openWork(row.id);
  const timers = await registry.timers(row.id);
  const wanted = isEnd(row.phase) ? { invokes: [], timers: [] } : wantedBy(row);
  // A watcher that sees nothing has gone, and a follower of no bus; their states stay.
  const mayBeOver = [blind && 'watch', busless && 'followBus'].filter((id) => !work.some(({ src }) => src === id));
  wanted.invokes = wanted.invokes.filter((id) => !mayBeOver.includes(id));
  // Only its end makes a blind watcher's turn hidden.
  const isOver = blind && row.state === 'injected.hidden' && work.some(({ src }) => src === 'watch');
  const cleanups = work.filter(({ kind }) => kind === 'cleanup').length;
  return [
    ...(isOver ? ['the watcher has ended and is still open'] : []),
    ...differences(
      'effect',
      wanted.invokes,
      work.filter(({ kind }) => kind === 'invoke').map(({ invokeId }) => invokeId),
    ),
    ...differences(
      'timer',
      wanted.timers,
      timers.map(({ id }) => id).filter((id) => id !== FAULT_TIMER),
    ),
    ...(cleanups === (row.cleanup === 'open' ? 1 : 0)
      ? []
      : [`${cleanups} cleanups are open and cleanup is ${row.cleanup}`]),
    ...work
      .filter(({ attempt }) => attempt !== row.attempt)
      .map(({ src }) => `${src} is of attempt ${row.attempt - 1}`),
  ].map((what) => `${row.id}/${row.attempt} v${row.version} ${row.state}: ${what}`);
}

function wantedBy(row: Row): { invokes: string[]; timers: string[] } {
  const actor = createActor(jobMachine as AnyStateMachine, { snapshot: structuredClone(row.snapshot) as never });
  const nodes = (actor.getSnapshot() as unknown as { _nodes: AnyStateNode[] })._nodes;
  return {
    invokes: nodes.flatMap((node) => node.invoke.map(({ id }) => id)),
    timers: nodes.flatMap((node) => [...new Set(node.after.map(({ eventType }) => String(eventType)))]),
  };
}

function differences(what: string, wanted: string[], found: string[]): string[] {
  return [
    ...wanted.filter((id) => !found.includes(id)).map((id) => `${what} ${id} is missing`),
    ...found
      .filter((id, i) => !wanted.includes(id) || found.indexOf(id) !== i)
      .map((id) => `${what} ${id} is too many`),
  ];
}
