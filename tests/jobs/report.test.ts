// The manifest that the accepted `completed` named is the one that counts: a report that is finalized anew afterwards is another
// one, however well it is signed (docs/design.md sections 1 and 5).
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Limits } from '../../machines/job/events.ts';
import { type Engine, openEngine } from '../../src/jobs/engine.ts';
import { attemptPaths } from '../../src/signals/attempt.ts';
import { makeEnvelope, requestOf } from '../../src/signals/envelope.ts';
import { finalizeReport } from '../../src/signals/manifest.ts';

let dir: string;
let engine: Engine;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'stepward-report-'));
  engine = await openEngine({ registryDir: join(dir, 'registry') });
});
afterEach(async () => {
  await engine.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A job of a person's, delivered, with two reports finalized one after the other; `completed` names one of them. */
async function endsNaming(which: 'first' | 'second') {
  const { registry, driver } = engine;
  const cwd = join(dir, 'work');
  mkdirSync(cwd);
  const { id } = await engine.register({
    agent: 'human',
    kind: 'human',
    transport: 'human',
    target: '',
    cwd,
    task: 'x',
    title: 'x',
    argv: [],
    env: {},
    limits: Limits.parse({}),
    idleRetries: 0,
    ways: ['inbox', 'spool'],
    registryDir: join(dir, 'registry'),
  });
  await driver.adopt(id);
  await expect.poll(async () => (await registry.load(id))?.phase, { timeout: 10_000 }).toBe('injected');
  const place = { job: id, attempt: 1, cwd };
  const paths = attemptPaths(place);
  const key = readFileSync(paths.key, 'utf8');
  const finalize = async (text: string) => {
    writeFileSync(paths.report, text);
    return (await finalizeReport({ ...place, key, report: paths.report, artifacts: [], from: cwd })).sha256;
  };
  const manifests = { first: await finalize('one'), second: await finalize('two') };
  expect(manifests.first).not.toBe(manifests.second);
  const event = { type: 'completed', manifest: manifests[which] };
  const envelope = makeEnvelope({ job: id, attempt: 1, seq: 1, event, now: Date.now() }, key);
  await registry.deliver(requestOf(envelope), id, 'inbox');
  return engine.ended(id, AbortSignal.timeout(20_000));
}

it('a valid, signed manifest that completed did not name is report_invalid', async () => {
  const row = await endsNaming('first');
  expect(row?.outcome).toEqual({ status: 'failed', reason: 'report_invalid' });
  expect(row?.snapshot.context.detail).toMatch(/not the one that completed named/);
});

it('the one that it named is the job’s', async () => {
  expect((await endsNaming('second'))?.outcome).toEqual({ status: 'completed', reason: 'reported' });
});
