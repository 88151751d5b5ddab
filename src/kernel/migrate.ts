// A row of an older machine is carried over together with its timers and open effects (section 4, "Versions"), and only if
// the machine of today can go on from there: a snapshot that does not restore, a state whose timer has no row or whose effect
// runs nowhere would wait for ever.
import type { AnyStateNode } from 'xstate';
import { RestoreError, restore } from './decide.ts';
import { type MachineDefinition, type Migratable, machineId } from './definition.ts';
import { FAULT_TIMER } from './faults.ts';
import type { Change, EffectWrite, LogEntry, OutboxRow, PersistedSnapshot, Row, TimerRow } from './ports.ts';

/** `unknown`: another machine, or one newer than this build's. Its rows are left to the build that knows them. */
export type Migrated = 'current' | 'unknown' | Migratable;

/** Pure. Throws RestoreError if a migration is missing, or if what the migrations give cannot go on. */
export function migrate(
  definition: MachineDefinition,
  row: Pick<Row, 'machine' | 'snapshot'>,
  timers: readonly TimerRow[],
  outbox: readonly OutboxRow[],
): Migrated {
  const from = versionOf(definition, row.machine);
  if (from === null || from > definition.version) return 'unknown';
  if (from === definition.version) return 'current';
  // A copy: decide() remembers snapshots it has brought to life, and the old machine may have been what brought this one.
  let now: Migratable = structuredClone({ snapshot: row.snapshot, timers: [...timers], outbox: [...outbox] });
  for (let version = from; version < definition.version; version++) {
    const migration = definition.migrations[version];
    if (!migration) throw new RestoreError(`no migration from ${definition.name}@${version}`);
    now = migration(now);
  }
  const wrong = drift(definition, now.snapshot, now.timers, now.outbox);
  if (wrong.length > 0) throw new RestoreError(`${row.machine} → ${machineId(definition)}: ${wrong.join('; ')}`);
  return now;
}

/** What a migration commits. `now` is registry time, ms: timers keep the absolute time they had, also one that is past. */
export function migrationChange(definition: MachineDefinition, to: Migratable, now: number, log: LogEntry): Change {
  const state = restore(definition, to.snapshot);
  return {
    migrateTo: machineId(definition),
    next: {
      snapshot: to.snapshot,
      phase: definition.phaseOf(state),
      state: definition.stateOf(state),
      outcome: definition.outcomeOf(state),
    },
    effects: [...to.timers.map((timer) => armed(timer, now)), ...to.outbox.filter(({ open }) => open).map(asked)],
    log,
    durable: true,
  };
}

const armed = ({ id, delay, event, silence, fireAt }: TimerRow, now: number): EffectWrite => ({
  kind: 'arm',
  timer: { id, delay, event, silence },
  afterMs: fireAt - now,
});

const asked = ({ kind, invokeId, src, input }: OutboxRow): EffectWrite =>
  kind === 'cleanup' ? { kind, input } : { kind, invokeId, src, input };

/** `job@1` → 1 for the job's definition; null for another machine, and for what is no version. */
function versionOf({ name }: MachineDefinition, machine: string): number | null {
  const version = machine.startsWith(`${name}@`) ? machine.slice(name.length + 1) : '';
  return /^[1-9]\d*$/.test(version) ? Number(version) : null;
}

/**
 * How the rows differ from what the active states wait for, as sentences; none if they fit. Throws RestoreError if the snapshot
 * does not restore. The kernel's own timers and cleanup belong to no state.
 */
export function drift(
  definition: MachineDefinition,
  snapshot: PersistedSnapshot,
  timers: readonly TimerRow[],
  outbox: readonly OutboxRow[],
): string[] {
  const state = restore(definition, snapshot);
  const nodes: AnyStateNode[] = state.status === 'active' ? state._nodes : [];
  const known = new Set(Object.keys(snapshot.children));
  return [...timerDrift(nodes, timers), ...effectDrift(nodes, outbox, known)];
}

function timerDrift(nodes: readonly AnyStateNode[], timers: readonly TimerRow[]): string[] {
  const wrong: string[] = [];
  const wanted = new Map(
    nodes.flatMap((node) => node.after.map(({ eventType }) => [String(eventType), node] as const)),
  );
  for (const [id, node] of wanted) {
    if (timers.some((timer) => timer.id === id) || staysAfter(node, id)) continue;
    wrong.push(`state ${node.id} waits for the timer ${id}, which is not armed`);
  }
  for (const { id, event } of timers) {
    if (id === FAULT_TIMER) continue;
    if (!wanted.has(id)) wrong.push(`the timer ${id} belongs to no active state`);
    else if (event.type !== id) wrong.push(`the timer ${id} would send ${event.type}`);
  }
  return wrong;
}

function effectDrift(
  nodes: readonly AnyStateNode[],
  outbox: readonly OutboxRow[],
  known: ReadonlySet<string>,
): string[] {
  const wrong: string[] = [];
  const open = outbox.filter((work) => work.open && work.kind === 'invoke');
  const wanted = new Map(
    nodes.flatMap((node) => node.invoke.map((invoke) => [invoke.id, { node, src: invoke.src }] as const)),
  );
  for (const [id, { node, src }] of wanted) {
    const work = open.find(({ invokeId }) => invokeId === id);
    if (work && work.src !== src) wrong.push(`the effect ${id} runs as ${work.src}, the machine means ${String(src)}`);
    if (!known.has(id)) wrong.push(`state ${node.id} waits for the effect ${id}, which was never started`);
    else if (!work && !staysAfter(node, `xstate.done.actor.${id}`) && !staysAfter(node, `xstate.error.actor.${id}`)) {
      wrong.push(`state ${node.id} waits for the effect ${id}, which does not run`);
    }
  }
  for (const id of known)
    if (!wanted.has(id)) wrong.push(`the snapshot has the effect ${id}, which no active state started`);
  for (const { invokeId } of open) {
    if (!wanted.has(invokeId)) wrong.push(`the effect ${invokeId} belongs to no active state`);
  }
  return wrong;
}

/** Whether the state may still be active after the event: then its timer or effect may rightly be over. */
const staysAfter = (node: AnyStateNode, eventType: string): boolean =>
  (node.transitions.get(eventType) ?? []).some(
    ({ target, reenter }) => !target || (!reenter && target.every((to: AnyStateNode) => isWithin(to, node))),
  );

function isWithin(node: AnyStateNode, ancestor: AnyStateNode): boolean {
  for (let at: AnyStateNode | undefined = node; at; at = at.parent) if (at === ancestor) return true;
  return false;
}
