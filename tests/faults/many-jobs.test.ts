// 200 jobs at once on command agents in one driver: all reach the right end. Memory and open files are reported.
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { type Engine, openEngine } from '../../src/jobs/engine.ts';
import { processesIn } from '../e2e/support.ts';

const JOBS = 200;
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-many-')));
let engine: Engine | null = null;
afterEach(async () => {
  await engine?.stop();
  expect(processesIn(dir)).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});

/** In shell, so that two cores can start 200 of them: one emit each. Every fourth job fails, every fourth says nothing. */
const SCRIPT = `command=$(sed -n 's/.*\`\\(.*\\) emit started.*/\\1/p' "$STEPWARD_BRIEF")
case "$1" in
  completes) echo "# Report" > "$(dirname "$STEPWARD_BRIEF")/report.md"
    eval "$command" emit completed --report "$(dirname "$STEPWARD_BRIEF")/report.md" ;;
  fails) eval "$command" emit failed --detail no ;;
esac`;

const KINDS = ['completes', 'completes', 'fails', 'silent'] as const;
const EXPECTED = { completes: 'reported', fails: 'agent_failed', silent: 'agent_exited' };

it(`${JOBS} jobs at once`, async () => {
  const script = join(dir, 'agent.sh');
  writeFileSync(script, SCRIPT);
  engine = await openEngine({ registryDir: join(dir, 'registry') });
  const { driver, registry } = engine;
  const wanted = new Map<string, string>();
  for (let i = 0; i < JOBS; i++) {
    const kind = KINDS[i % KINDS.length] ?? 'silent';
    const cwd = join(dir, `work-${i}`);
    mkdirSync(cwd);
    const row = await engine.register({
      agent: 'command',
      kind: 'command',
      transport: 'headless',
      target: '',
      cwd,
      task: 'x',
      title: 'x',
      argv: ['sh', script, kind],
      env: {},
      limits: Limits.parse({}),
      idleRetries: 2,
      ways: ['inbox', 'bus', 'spool'],
      registryDir: join(dir, 'registry'),
    });
    wanted.set(row.id, EXPECTED[kind]);
  }
  await Promise.all([...wanted.keys()].map((id) => driver.adopt(id)));
  const openFiles = () => readdirSync('/proc/self/fd').length;
  let most = { rss: 0, files: 0 };
  const watching = setInterval(() => {
    most = { rss: Math.max(most.rss, process.memoryUsage.rss()), files: Math.max(most.files, openFiles()) };
  }, 100);
  const rows = await Promise.all([...wanted.keys()].map((id) => engine?.cleanedUp(id)));
  clearInterval(watching);
  for (const row of rows) expect(row?.outcome?.reason).toBe(wanted.get(row?.id ?? ''));
  expect(await registry.sessions()).toEqual([]);
  console.log(
    `${JOBS} jobs: at most ${Math.round(most.rss / 2 ** 20)} MiB resident (with vitest), ${most.files} open files`,
  );
}, 600_000);
