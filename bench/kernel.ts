// Committed transitions per second of the kernel against a bare compare-and-set loop on the same store and the same bytes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Limits } from '../machines/job/events.ts';
import { jobDefinition } from '../src/jobs/definition.ts';
import { systemClock } from '../src/kernel/clock.ts';
import type { Context } from '../src/kernel/context.ts';
import { begin } from '../src/kernel/decide.ts';
import { handle } from '../src/kernel/handle.ts';
import { makeHeld } from '../src/kernel/held.ts';
import type { DriverRecord, Json, Registry } from '../src/kernel/ports.ts';
import { loadDriver } from '../src/registry/sqlite/driver.ts';
import { openSqliteRegistry } from '../src/registry/sqlite/open.ts';
import { type Finding, times } from './stats.ts';

const COMMITS = 6_000;
const ROUNDS = 5;

export async function measureKernel(): Promise<Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-bench-'));
  try {
    const registry = await openSqliteRegistry({ dir, clock: systemClock });
    const { context, outboxId } = await injectedRow(registry);
    const rates = { ours: [] as number[], store: [] as number[], raw: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      rates.ours.push(await kernelRate(context, outboxId));
      rates.store.push(await storeRate(registry));
      rates.raw.push(await rawRate(join(dir, 'registry.db')));
    }
    await registry.close();
    const ours = median(rates.ours);
    const against = (peer: string, rate: number, aim: string): Finding => ({
      what: 'Kernel: committed transitions (admit, decide, commit with timers and log)',
      ours: `${Math.round(ours)}/s`,
      peer: `${peer} ${Math.round(rate)}/s`,
      ratio: times(ours / rate),
      aim,
    });
    return [
      against('bare loop of load and compare-and-set on the same registry', median(rates.store), '≥ 0.50 ×'),
      against('the same in raw SQL, one row and one log row', median(rates.raw), '–'),
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Turns that begin and hide again: each is a taken event that moves the row and re-arms the idle clock. */
async function kernelRate(context: Context, outboxId: number): Promise<number> {
  const begun = performance.now();
  for (let i = 0; i < COMMITS; i++) {
    const event = { type: i % 2 === 0 ? ('turn.working' as const) : ('turn.hidden' as const) };
    const answer = await handle(context, JOB, { from: 'effect', outboxId, event });
    if (answer?.verdict !== 'take') throw new Error(`commit ${i} was ${answer?.verdict} ${answer?.reason}`);
  }
  return (COMMITS * 1000) / (performance.now() - begun);
}

/** The registry's own loop without a machine: read the row, compare-and-set it with a log entry. */
async function storeRate(registry: Registry): Promise<number> {
  const begun = performance.now();
  for (let i = 0; i < COMMITS; i++) {
    const row = await registry.load(JOB);
    if (!row) throw new Error('the row is gone');
    const { snapshot, phase, state, outcome } = row;
    const log = { from: 'kernel', what: 'bench', verdict: 'take' } as const;
    if (!(await registry.commit(row, { next: { snapshot, phase, state, outcome }, log })))
      throw new Error('lost a race');
  }
  return (COMMITS * 1000) / (performance.now() - begun);
}

/** The least that any such store must do: read the row, compare-and-set it, write one log row of the same size. */
async function rawRate(file: string): Promise<number> {
  const driver = await loadDriver();
  const db = driver.open(file, false);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  db.exec('CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, version INTEGER, snapshot TEXT) STRICT');
  db.exec('CREATE TABLE IF NOT EXISTS bare_log (seq INTEGER PRIMARY KEY, id TEXT, version INTEGER, body TEXT) STRICT');
  db.exec("INSERT OR REPLACE INTO bare VALUES ('a', 1, '')");
  const read = db.prepare('SELECT version, snapshot FROM bare WHERE id = ?');
  const write = db.prepare('UPDATE bare SET version = version + 1, snapshot = ? WHERE id = ? AND version = ?');
  const log = db.prepare('INSERT INTO bare_log (id, version, body) VALUES (?, ?, ?)');
  const snapshot = 's'.repeat(900);
  const body = 'b'.repeat(300);
  const begun = performance.now();
  for (let i = 0; i < COMMITS; i++) {
    const { version } = read.get('a') as { version: number };
    db.exec('BEGIN IMMEDIATE');
    if (Number(write.run(snapshot, 'a', version).changes) !== 1) throw new Error('lost the race with nobody');
    log.run('a', version + 1, body);
    db.exec('COMMIT');
  }
  const rate = (COMMITS * 1000) / (performance.now() - begun);
  db.close();
  return rate;
}

const JOB = 'bench';
const record: DriverRecord = { id: 'bench', host: 'bench', pid: process.pid, started: '0', build: 'bench' };

/** A row in injected, its effects never started: only the kernel is measured. */
async function injectedRow(registry: Registry): Promise<{ context: Context; outboxId: number }> {
  const spec = { idleRetries: 0, ways: ['inbox', 'spool'], limits: Limits.parse({}) } as unknown as Json;
  const first = begin(jobDefinition, jobDefinition.inputOf(spec));
  await registry.insert(
    { id: JOB, machine: 'job@1', session: 'human:bench', spec },
    { next: first.next, effects: first.effects, log: { from: 'kernel', what: 'registered', verdict: 'take' } },
  );
  const epoch = await registry.claim(JOB, record, 600_000, 60_000, () => false);
  const held = makeHeld({ job: JOB, epoch: epoch ?? 0, concludes: false, now: 0 }, systemClock);
  const context: Context = {
    registry,
    clock: systemClock,
    record,
    isProvenDead: () => false,
    definitions: { job: jobDefinition },
    effects: {},
    ways: { open: async () => {}, collect: async () => {}, close: () => {} },
    verify: () => true,
    warn: () => {},
    held: new Map([[JOB, held]]),
    adoptFinished: async () => {},
  };
  const finish = async (invokeId: string, output: unknown) => {
    const work = (await registry.openWork(JOB)).find((open) => open.invokeId === invokeId);
    await handle(context, JOB, {
      from: 'effect',
      outboxId: work?.id ?? -1,
      event: { type: `xstate.done.actor.${invokeId}`, output },
    });
  };
  for (const invoke of ['sessionLease', 'preflight', 'awaitIdle', 'openWays']) await finish(invoke, null);
  const inject = (await registry.openWork(JOB)).find((open) => open.invokeId === 'inject');
  const mark = { step: { step: 'hand-over', limitAt: 0 } };
  const started = { type: 'step.started' as const, step: 'hand-over' };
  await handle(context, JOB, { from: 'effect', outboxId: inject?.id ?? -1, event: started }, mark);
  await finish('inject', { delivery: 'accepted' });
  const watch = (await registry.openWork(JOB)).find((open) => open.invokeId === 'watch');
  if (!watch) throw new Error('the row did not reach injected');
  return { context, outboxId: watch.id };
}
