// A real registry in a directory of its own, closed after the test.
import { afterEach } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { JobSpec } from '../../src/jobs/spec.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { begin } from '../../src/kernel/decide.ts';
import type { Json, Registry } from '../../src/kernel/ports.ts';
import { openSqliteRegistry } from '../../src/registry/sqlite/open.ts';
import { freshDir } from './inside.ts';

const open: Registry[] = [];
afterEach(async () => {
  for (const registry of open.splice(0)) await registry.close();
});

/** Queued jobs of those ids, in that order; nobody drives them. */
export async function beginJobs(...ids: string[]): Promise<Registry> {
  const dir = freshDir();
  const registry = await openSqliteRegistry({ dir, clock: systemClock });
  open.push(registry);
  for (const id of ids) {
    const spec: JobSpec = {
      agent: 'human',
      kind: 'human',
      transport: 'human',
      target: id,
      cwd: dir,
      task: 'x',
      title: 'x',
      argv: [],
      env: {},
      limits: Limits.parse({}),
      idleRetries: 0,
      ways: ['inbox', 'bus', 'spool'],
      registryDir: dir,
    };
    const { next, effects } = begin(jobDefinition, jobDefinition.inputOf(spec as unknown as Json));
    const row = { id, machine: 'job@1', session: `human:${id}`, spec: spec as unknown as Json };
    await registry.insert(row as Parameters<Registry['insert']>[0], {
      next,
      effects,
      log: { from: 'kernel', what: 'registered', verdict: 'take' },
    });
  }
  return registry;
}
