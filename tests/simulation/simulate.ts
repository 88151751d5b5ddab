// Plays one plan against the production kernel: drivers that die, sleep and take over, agents, a person, a clock. The same plan
// tells the same story.
import type { Change, InboxRow, LogRow, Read, Row, SessionRow } from '../../src/kernel/ports.ts';
import { Broker } from './broker.ts';
import { Desk } from './desk.ts';
import { driftOf } from './drift.ts';
import type { Watcher } from './gate.ts';
import { nameOf } from './gate.ts';
import { host } from './inhabitants.ts';
import { openMemoryRegistry, type Process, type Room, registerJobs, startProcess, type Twist } from './machine-room.ts';
import { ask, happen, type Stage } from './mishaps.ts';
import { ALL_CALM_MS, LAST_MISHAP_S, type Mishap, type Plan } from './plan.ts';
import { type Life, Scheduler } from './scheduler.ts';
import type { World } from './world.ts';
import { PaneWorld } from './world-pane.ts';
import { ProcessWorld } from './world-process.ts';

/** A successful compare-and-set of one process. */
export interface Commit {
  driver: string;
  job: string;
  epoch: number;
  /** The newest epoch of the row that anybody had claimed by then. */
  newest: number;
  what: string;
}

export interface Result {
  plan: Plan;
  rows: Row[];
  log: LogRow[];
  /** Every request that reached the registry, by id. */
  inbox: Map<string, InboxRow>;
  sessions: SessionRow[];
  commits: Commit[];
  desk: Desk;
  world: World;
  /** Everything is over and tidied up. */
  ended: boolean;
  drift: string[];
  warnings: string[];
  visits: ReadonlyMap<string, number>;
  trail: readonly { label: string; nth: number }[];
  simulatedMs: number;
}

const SILENCES = ['idleTimeout', 'permissionTimeout'];
const VISIBLE_MS = 30_000;
/** The bus and the driver have been as they are for longer than any report of it takes. */
const STEADY_MS = 60_000;
const SLOW_MS = 20_000;
/** How long a sleeper is waited for after the end: it may still hold a key in its hand. */
const EPILOGUE_GATES = 80;

export async function simulate(plan: Plan, twist: Twist = {}): Promise<Result> {
  const waiting = [...plan.mishaps];
  /** As of the newest commit. */
  let rows: Row[] = [];
  const commits: Commit[] = [];
  const drift: string[] = [];
  const warnings: string[] = [];
  const epochs = new Map<string, number>();
  const claimedAt = new Map<string, number>();
  const listeners = new Map<Life, { heard: boolean; listener: () => void }>();

  const scheduler = new Scheduler(plan.seed, async (label, nth, life) => {
    const isDue = ({ at }: Mishap) => 'label' in at && at.label === label && at.nth === nth;
    const delayMs = waiting.some((mishap) => mishap.do === 'slow' && isDue(mishap)) ? SLOW_MS : 0;
    await trouble(isDue, life);
    return delayMs;
  });
  const registry = await openMemoryRegistry({ now: () => scheduler.now, sleep: async () => {} });
  const broker = new Broker(scheduler);
  const desk = new Desk(plan.world, scheduler, registry, broker, () => changed());
  const unseen = {
    blind: plan.world.kind === 'process' && plan.world.blind === true,
    busless: plan.world.busless === true,
  };
  const parts = { options: { ...plan.world }, scheduler, desk, epochOf: (job: string) => epochs.get(job) ?? 0 };
  const world: World = plan.world.kind === 'pane' ? new PaneWorld(parts) : new ProcessWorld(parts);
  const watcher: Watcher = {
    async committed(life, read, change) {
      if (life.retired) world.breaches.push(`${life.id} committed ${nameOf(change)} after it was stopped`);
      commits.push({ driver: life.id, ...asCommit(read, change), newest: epochs.get(read.id) ?? 0 });
      judgeSilence(read, change);
      judgeBus(life, read, change);
      const row = await registry.load(read.id);
      rows = rows.map((known) => (known.id === row?.id ? row : known));
      if (row && drift.length === 0) drift.push(...(await driftOf(registry, row, unseen)));
    },
    claimed(_, job, epoch) {
      epochs.set(job, epoch);
      claimedAt.set(job, scheduler.now);
    },
    changed: () => changed(),
    listen(life, listener) {
      listeners.set(life, { heard: true, listener });
      return () => listeners.delete(life);
    },
  };
  const processes: Process[] = [];
  const room: Room = {
    scheduler,
    registry,
    desk,
    broker,
    busless: unseen.busless,
    world,
    watcher,
    processes,
    twist,
    warn: (text) => warnings.push(text),
  };
  const stage: Stage = {
    room,
    startHost: () => host(room, startProcess(room, 'host')),
    wantsAnother: false,
    requests: 0,
  };

  /** A hint may be lost, and comes late. */
  function changed(): void {
    for (const [life, entry] of listeners) {
      if (!life.alive || !entry.heard || scheduler.choose(4) === 0) continue;
      entry.heard = false;
      scheduler.later(life, 'hint', () => {
        entry.heard = true;
        entry.listener();
      });
    }
  }

  /** A clock that measures silence must not end a job whose turn has visibly been running. */
  function judgeSilence({ id }: Read, { log, next }: Change): void {
    if (next?.phase !== 'finalizing' || !SILENCES.includes(log.what)) return;
    const attempt = rows.find((row) => row.id === id)?.attempt ?? 1;
    const ms = world.visiblyWorking(id, attempt);
    if (ms > VISIBLE_MS)
      world.breaches.push(`${next.outcome?.reason} although the turn has been working for ${ms / 1000} s`);
  }

  /** Nothing is said of an agent's silence while nobody could have heard it, and exit 3 is said then and only then. */
  function judgeBus(life: Life, { id }: Read, { log, next, step }: Change): void {
    const known = rows.find((row) => row.id === id)?.snapshot.context.busAway != null;
    const away = broker.isUp ? 'there' : 'away';
    const steady = Math.max(broker.changedAt, claimedAt.get(id) ?? 0, life.asleepUntil);
    const isSteady = scheduler.now - steady > STEADY_MS && !unseen.busless;
    const unheard = plan.world.busOnly === true && (known || (isSteady && !broker.isUp));
    if (log.what === 'idleTimeout' && unheard) world.breaches.push('idle_timeout although nobody could hear the agent');
    if (step?.step === 'remind-paste' && unheard) world.breaches.push('reminded although nobody could hear the answer');
    if (!['deadline', 'deadline_timeout'].includes(log.what) || !next?.outcome) return;
    const says = next.outcome.reason === 'bus_away';
    if (says && !plan.world.busOnly) world.breaches.push('bus_away of a job that can speak otherwise');
    if (says && !known) world.breaches.push('bus_away although the row did not know of it');
    const wasHeard = next.phase === 'finalizing' && plan.world.busOnly === true && isSteady;
    if (wasHeard && says === broker.isUp) world.breaches.push(`${next.outcome.reason} although the bus was ${away}`);
  }

  async function trouble(isDue: (mishap: Mishap) => boolean, life?: Life): Promise<void> {
    for (const mishap of waiting.filter(isDue)) {
      waiting.splice(waiting.indexOf(mishap), 1);
      const awake = processes.filter((one) => one.life.alive && one.life.asleepUntil <= scheduler.now);
      const victim = processes.find((one) => one.life === life) ?? awake[scheduler.choose(awake.length)];
      await happen(stage, mishap, victim);
    }
  }

  await registerJobs(registry, plan);
  rows = await registry.list();
  stage.startHost();

  const troubleUntil =
    1_000 * Math.max(LAST_MISHAP_S, ...plan.mishaps.map(({ at }) => ('second' in at ? at.second : 0)));
  let nextStep = scheduler.now;
  let comeBackAt: number | null = null;
  let calmSince: number | null = null;
  let ended = false;

  for (;;) {
    if (stage.wantsAnother && rows[0]?.cleanup === 'done') {
      stage.wantsAnother = false;
      await ask(stage, { type: 'redispatch', attempt: rows[0].attempt + 1 });
    }
    const elapsed = scheduler.elapsed();
    await trouble(({ at }) => 'second' in at && at.second * 1_000 <= elapsed);

    // Somebody always comes back in the end: the host, or `stepward resume`.
    const awake = processes.some(({ life }) => life.alive && !life.retired && life.asleepUntil <= scheduler.now);
    if (awake) comeBackAt = null;
    else comeBackAt ??= scheduler.now + scheduler.choose(30_000);
    if (comeBackAt !== null && comeBackAt <= scheduler.now) stage.startHost();

    if (scheduler.now >= nextStep) {
      await world.step();
      await desk.step();
      nextStep = scheduler.now + 200 + scheduler.choose(1_200);
    }
    if (elapsed > troubleUntil) {
      // From here on the world is kind, so that only our own mistakes can keep a job from ending.
      if (calmSince === null) world.beKind();
      calmSince ??= scheduler.now;
      waiting.length = 0;
    }
    ended = await over();
    if (ended && waiting.length === 0) break;
    if (calmSince !== null && scheduler.now - calmSince > ALL_CALM_MS) break;

    if (await scheduler.openOne()) continue;
    const times = [scheduler.nextTime(), nextStep, comeBackAt, ...waiting.map(timeOf)].filter((time) => time !== null);
    scheduler.now = Math.max(scheduler.now, Math.min(...times));
  }

  async function over(): Promise<boolean> {
    if (stage.wantsAnother || scheduler.hasSlowGate() || rows.some(({ cleanup }) => cleanup !== 'done')) return false;
    return (
      (await registry.jobsWithUndecided()).length === 0 &&
      processes.every(({ life }) => !life.alive || life.asleepUntil <= scheduler.now)
    );
  }
  function timeOf({ at }: Mishap): number | null {
    return 'second' in at ? scheduler.now - scheduler.elapsed() + at.second * 1_000 : null;
  }

  for (let i = 0; i < EPILOGUE_GATES; i++) {
    if (!(await scheduler.openOne())) scheduler.now = scheduler.nextTime() ?? scheduler.now;
  }
  const log = await registry.log({});
  rows = await registry.list();
  const result: Result = {
    plan,
    rows,
    log,
    inbox: await inboxOf(),
    sessions: await registry.sessions(),
    commits,
    desk,
    world,
    // Not asked again: a sleeper that wakes in the epilogue may bring news of long ago, which the next driver would refuse.
    ended,
    drift,
    warnings,
    visits: scheduler.visits,
    trail: scheduler.trail,
    simulatedMs: scheduler.elapsed(),
  };
  for (const { life } of processes) scheduler.kill(life);
  await registry.close();
  return result;

  async function inboxOf(): Promise<Map<string, InboxRow>> {
    const ids = [...desk.sent.map(({ envelope }) => envelope.id), ...log.map(({ data }) => idIn(data))];
    const found = await Promise.all([...new Set(ids)].map((id) => registry.inboxRow(id)));
    return new Map(found.filter((row) => row !== undefined).map((row) => [row.id, row]));
  }
}

const idIn = (data: LogRow['data']): string =>
  data !== null && typeof data === 'object' && 'id' in data ? String(data.id) : '';

const asCommit = ({ id, epoch }: Read, change: Change): Omit<Commit, 'driver' | 'newest'> => ({
  job: id,
  epoch,
  what: nameOf(change),
});
