// Why a job is where it is: what it waits for, since when, until when, what happens then, what was refused, what a person can do.
import { timersThatMatter } from '../jobs/status.ts';
import type { DriverRecord, Registry } from '../kernel/ports.ts';
import { type AgentOutput, agentOutput } from './agent-output.ts';
import { RefusedError } from './errors.ts';
import { holderOf, needsDriver } from './holder.ts';
import { logAfter, saidIn } from './news.ts';
import { type NextStep, nextSteps } from './next.ts';
import { iso, type StatusObject, statusObject } from './status.ts';
import { plain } from './text.ts';
import { busAwayOf, isUnheard, THEN, waitsFor, wasDelivered } from './waiting.ts';

const REFUSED_SHOWN = 3;
const OUTSIDE: readonly string[] = Object.freeze(['agent', 'person']);

export interface Explanation extends StatusObject {
  waitsFor: string;
  /** Not ended, or not cleaned up. */
  open: boolean;
  /** The question of a blocked agent, in its words. */
  asks: string | null;
  /** The agent's last words. */
  lastSaid: string | null;
  /** What a started agent printed last; only of an attempt that has ended badly. */
  output: AgentOutput | null;
  hold: string | null;
  timers: { delay: string; at: string; happens: string }[];
  driver: DriverRecord | null;
  quarantine: string | null;
  /** The job that holds the session this one waits for. */
  queuedBehind: string | null;
  /** The last ones, oldest first. */
  refused: { at: string; what: string; from: string; verdict: string; reason: string | null }[];
  canDo: NextStep[];
}

export async function explain(registry: Registry, id: string, registryDir: string): Promise<Explanation> {
  const row = await registry.load(id);
  if (!row) throw new RefusedError(`job ${id} is gone from the registry`);
  const timers = await registry.timers(id);
  const driver = await holderOf(registry, id);
  const session = await registry.sessionRow(row.session);
  const log = await logAfter(registry, id, 0);
  const spoken = log.filter(
    ({ from, verdict, attempt }) => from === 'agent' && verdict === 'take' && attempt === row.attempt,
  );
  const question = spoken.findLast(({ what }) => what === 'permission_required');
  const refused = log.filter(
    // An effect's late news are refused all the time; what somebody said and was refused is what a reader looks for.
    ({ verdict, attempt, from }) =>
      attempt === row.attempt && OUTSIDE.includes(from) && (verdict === 'refused' || verdict === 'conflict'),
  );
  const status = statusObject(row, timers);
  const { hold } = row.snapshot.context;
  return {
    ...status,
    detail: status.detail && plain(status.detail),
    waitsFor: waitsFor(row.state, busAwayOf(row)),
    open: needsDriver(row),
    asks: row.state.endsWith('blocked') && question ? saidIn(question) : null,
    lastSaid: row.phase === 'injected' ? (spoken.map(saidIn).findLast((said) => said !== null) ?? null) : null,
    output: status.exit ? await agentOutput(registryDir, row) : null,
    hold: row.phase === 'pending' && typeof hold === 'string' ? hold : null,
    timers: timersThatMatter(timers).map(({ delay, fireAt }) => ({
      delay,
      at: iso(fireAt),
      happens: THEN[delay]?.(wasDelivered(row), isUnheard(row)) ?? delay,
    })),
    driver,
    quarantine: session?.job === id ? session.quarantine : null,
    queuedBehind: row.state === 'queued' && session && session.job !== id ? session.job : null,
    refused: refused
      .slice(-REFUSED_SHOWN)
      .map(({ at, what, from, verdict, reason }) => ({ at: iso(at), what: plain(what), from, verdict, reason })),
    canDo: nextSteps(row, driver !== null),
  };
}
