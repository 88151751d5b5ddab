// `stepward emit`: what an agent runs, once per event, so it must start fast: no XState, zod, execa, commander or mqtt here or in
// anything it loads (a test traces the bundle).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../machines/job/exit.ts';
import { AGENT_EVENTS, type AgentEventType, isAgentEvent } from '../../machines/job/vocabulary.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Answer, Clock } from '../kernel/ports.ts';
import { REGISTRY_FILE } from '../registry/sqlite/files.ts';
import { InputError } from '../signals/errors.ts';
import { reasonOf } from '../signals/files.ts';
import { type Located, locateAttempt } from '../signals/locate.ts';
import { type News, type Reach, type Told, tell } from '../signals/tell.ts';
import { type AgentIo, type Parsed, parseAgentArgs, processIo, tellError } from './agent-side.ts';

export const emitUsage = `Usage: stepward emit EVENT [options]

Tells Stepward what an agent's attempt is doing. Run by the agent; its brief holds the exact command.

Events: ${AGENT_EVENTS.join(', ')}

Options:
  --detail TEXT        one short sentence; cut after 4000 characters
  --report FILE        with completed: the report, which is finalized first
  --artifact PATH…     with completed --report: further files to hand in
  --job J --attempt N  which attempt; default: the one whose file STEPWARD_ENV names
  --json               the result as one JSON object on stdout
  -h, --help           this text

Exit codes: 0 committed, queued, spooled, or already so; 1 no way took the event, or none confirmed it; 4 refused;
64 usage.

Examples:
  stepward emit started
  stepward emit progress --detail "tests are green, writing the report"
  stepward emit completed --report report.md --artifact coverage.json
  stepward emit failed --detail "the build needs a licence that is not here"
`;

/** Gives the exit code; never throws. */
export async function emitMain(argv: string[], io: AgentIo = processIo()): Promise<number> {
  const json = argv.includes('--json');
  try {
    const parsed = parseAgentArgs(argv, ['detail', 'report', 'artifact', 'job', 'attempt', 'json', 'help']);
    if (parsed.help) {
      io.stdout.write(emitUsage);
      return EXIT.ok;
    }
    const type = eventOf(parsed);
    const { job, attempt, detail, report } = parsed.values;
    const located = await locateAttempt({ from: io.cwd, envFile: io.env.STEPWARD_ENV, job, attempt });
    const { artifacts } = parsed;
    const clock = io.world?.clock ?? systemClock;
    const news: News = { type, detail, report, artifacts, from: io.cwd, now: clock.now() };
    const registry = await reach(located, clock);
    try {
      const told = await tell(news, located, registry);
      return print({ event: type, job: located.job, attempt: located.attempt }, told, json, io);
    } finally {
      if (!('unreachable' in registry)) await registry.close().catch(() => {});
    }
  } catch (error) {
    return tellError(error, json, io);
  }
}

function eventOf({ words, values, artifacts }: Parsed): AgentEventType {
  const [type, ...stray] = words;
  if (type === undefined || !isAgentEvent(type)) {
    throw new InputError(
      'EVENT',
      type ?? null,
      type === undefined ? 'is missing' : 'is no event',
      AGENT_EVENTS.join(', '),
    );
  }
  if (stray[0] !== undefined) throw new InputError('EVENT', stray[0], 'is one word too many', 'one event');
  const extra = values.report !== undefined ? '--report' : artifacts.length > 0 ? '--artifact' : null;
  if (extra && type !== 'completed') throw new InputError(extra, null, `does not go with ${type}`, 'with completed');
  if (extra === '--artifact') throw new InputError(extra, null, 'needs --report too', '--report FILE --artifact PATH');
  return type;
}

/** Never makes a registry: where none is within reach, the spool is the way. */
async function reach({ registryDir: dir, ways }: Located, clock: Clock): Promise<Reach> {
  if (!ways.includes('inbox')) return { unreachable: 'this attempt does not use it' };
  try {
    if (!existsSync(join(dir, REGISTRY_FILE))) return { unreachable: `there is none in ${dir}` };
    const { openSqliteRegistry } = await import('../registry/sqlite/open.ts');
    return await openSqliteRegistry({ dir, clock, patienceMs: PATIENCE_MS });
  } catch (error) {
    return { unreachable: reasonOf(error) };
  }
}

/** A registry that stays locked for longer is as good as out of reach; the spool is not locked. */
const PATIENCE_MS = 3000;

interface Words {
  outcome: 'committed' | 'idempotent' | 'conflict' | 'refused' | 'queued' | 'spooled' | 'unconfirmed';
  version: number | null;
  reason: string | null;
  /** For people. */
  message: string;
}

function print(who: { event: string; job: string; attempt: number }, told: Told, json: boolean, io: AgentIo): number {
  const words = wordsOf(told);
  const { id, seq, manifest } = 'turned' in told ? { id: null, seq: null, manifest: null } : told;
  // Null: answered from the row alone, nothing was handed over.
  const way = 'turned' in told ? null : told.handed.way;
  const exit = exitOf(words.outcome);
  if (json) io.stdout.write(`${JSON.stringify({ ...who, ...words, way, id, seq, manifest })}\n`);
  else (exit === EXIT.ok ? io.stdout : io.stderr).write(`${words.message}\n`);
  return exit;
}

function exitOf(outcome: Words['outcome']): number {
  if (outcome === 'unconfirmed') return EXIT.failed;
  return outcome === 'refused' || outcome === 'conflict' ? EXIT.refused : EXIT.ok;
}

function wordsOf(told: Told): Words {
  if ('turned' in told) {
    const { verdict, reason, row } = told.turned;
    return wordsOfAnswer({ verdict, reason, version: row?.version ?? null, phase: row?.phase ?? null });
  }
  const { handed } = told;
  if (handed.way === 'spool') {
    if (!('file' in handed)) return kept('spooled', 'the driver will pick it up');
    const last = `kept in ${handed.file} in case the driver can read it; run the same command again`;
    return kept('unconfirmed', `${handed.unconfirmed}; ${last}`, 'not confirmed');
  }
  if (handed.answer) return wordsOfAnswer(handed.answer);
  if (handed.way === 'bus' || handed.driven)
    return kept('queued', 'the driver has not answered yet; the event is kept');
  return kept('queued', 'nobody drives this job now; the event is kept until somebody does');
}

const kept = (outcome: 'queued' | 'spooled' | 'unconfirmed', why: string, word: string = outcome): Words => ({
  outcome,
  version: null,
  reason: null,
  message: `${word}: ${why}`,
});

type Judged = Pick<Answer, 'verdict' | 'reason'> & { version: number | null; phase: Answer['phase'] | null };

function wordsOfAnswer({ verdict, reason, version, phase }: Judged): Words {
  switch (verdict) {
    case 'take':
    case 'begin':
      return { outcome: 'committed', version, reason: null, message: `committed as version ${version}` };
    case 'idempotent':
      return { outcome: 'idempotent', version, reason: null, message: `already ${phase} as version ${version}` };
    case 'conflict':
      return { outcome: 'conflict', version, reason: 'conflict', message: `refused: conflict, the job is ${phase}` };
    case 'refused': {
      const where = phase === null ? '' : `, the job is ${phase}`;
      return { outcome: 'refused', version, reason, message: `refused: ${reason}${where}` };
    }
  }
}
