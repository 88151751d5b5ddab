import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AGENT_EVENTS, type AgentEventType } from '../../machines/job/vocabulary.ts';
import { emitMain, emitUsage } from '../../src/cli/emit.ts';
import type { Envelope } from '../../src/kernel/ports.ts';
import { makeEnvelope, parseEnvelope, requestOf } from '../../src/signals/envelope.ts';
import { verifyEnvelope } from '../../src/signals/signature.ts';
import { writeSpool } from '../../src/signals/spool.ts';
import { aborted, driven, JOB, undriven, until, type World } from '../signals/world.ts';
import { run } from './agent-run.ts';

const emit = (world: World, ...argv: string[]) =>
  run(emitMain, argv, { cwd: world.cwd, env: { STEPWARD_ENV: world.paths.env } });

const log = async (world: World, what: string) =>
  (await world.registry.log({ job: JOB })).filter((entry) => entry.what === what);
const spooled = (world: World) => readdir(world.paths.spool);

async function withReport(world: World): Promise<void> {
  await writeFile(world.paths.report, '# Done\n');
}

/** The registry's directory is taken away, as a sandbox would. */
async function hideRegistry(world: World): Promise<() => Promise<void>> {
  const aside = `${world.registryDir}-aside`;
  await rename(world.registryDir, aside);
  return () => rename(aside, world.registryDir);
}

describe('with a live driver', () => {
  it('news are committed as a version, in the log with their detail', async () => {
    const world = await driven();
    const { code, out, err } = await emit(world, 'progress', '--detail', 'half way');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const version = Number(/^committed as version (\d+)\n$/.exec(out)?.[1]);
    expect(await log(world, 'progress')).toMatchObject([{ verdict: 'take', version, from: 'agent' }]);
  });

  it('a completed job becomes completed, and the same said again is already so', async () => {
    const world = await driven();
    await withReport(world);
    const first = await emit(world, 'completed', '--report', world.paths.report);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^committed as version \d+\n$/) });
    const row = await world.reach('completed');
    expect(row.outcome).toEqual({ status: 'completed', reason: 'reported' });
    await until(async () => !(await readdir(world.paths.dir)).includes('key'));
    await rm(world.paths.report);
    const again = await emit(world, 'completed', '--report', 'whatever.md');
    expect(again).toMatchObject({ code: 0, out: `already completed as version ${(await world.row()).version}\n` });
  });

  it('a completed without --report counts if the report was finalized before', async () => {
    const world = await driven();
    await withReport(world);
    const { reportMain } = await import('../../src/cli/report.ts');
    const place = { cwd: world.cwd, env: { STEPWARD_ENV: world.paths.env } };
    expect(await run(reportMain, ['finalize'], place)).toMatchObject({ code: 0 });
    expect(await emit(world, 'completed')).toMatchObject({ code: 0 });
    await world.reach('completed');
  });

  it('an ended job refuses another end and any news, with exit 4 and in the log', async () => {
    const world = await driven();
    expect(await emit(world, 'failed', '--detail', 'no licence')).toMatchObject({ code: 0 });
    await world.reach('failed');
    expect(await emit(world, 'completed')).toMatchObject({ code: 4, err: 'refused: conflict, the job is failed\n' });
    expect(await emit(world, 'progress')).toMatchObject({ code: 4, err: 'refused: not_now, the job is failed\n' });
    expect(await emit(world, 'failed')).toMatchObject({ code: 0, out: expect.stringMatching(/^already failed as/) });
    expect(await log(world, 'completed')).toMatchObject([{ verdict: 'conflict', data: { way: 'door' } }]);
    expect(await log(world, 'progress')).toMatchObject([{ verdict: 'refused', reason: 'not_now' }]);
  });

  it('a report that is being verified stays as it was handed in, whatever is said again', async () => {
    const world = await driven({ awaitTurn: aborted });
    await withReport(world);
    expect(await emit(world, 'completed', '--report', world.paths.report)).toMatchObject({ code: 0 });
    await world.reach('finalizing');
    const handedIn = await readFile(world.paths.manifest, 'utf8');
    await writeFile(join(world.cwd, 'other.md'), 'another report');
    const again = await emit(world, 'completed', '--report', 'other.md');
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/^already finalizing as version/) });
    expect(await readFile(world.paths.manifest, 'utf8')).toBe(handedIn);
  });

  it('a permission event with a lower sequence number that comes later is not lost', async () => {
    const world = await driven();
    const key = await world.key();
    const early = makeEnvelope({ job: JOB, attempt: 1, seq: 1, event: { type: 'progress' }, now: 0 }, key);
    await writeFile(join(world.paths.seq, '1'), '');
    expect(await emit(world, 'progress')).toMatchObject({ code: 0 });
    await writeSpool(world.paths, early);
    await until(async () => (await world.registry.inboxRow(early.id))?.answer);
    expect((await log(world, 'progress')).map(({ verdict }) => verdict)).toEqual(['take', 'take']);
  });

  it('an envelope delivered three times is decided once and gets the same answer', async () => {
    const world = await driven();
    const event: Envelope['event'] = { type: 'failed', detail: 'once' };
    const envelope = makeEnvelope({ job: JOB, attempt: 1, seq: 1, event, now: 0 }, await world.key());
    await world.registry.deliver(requestOf(envelope), JOB, 'inbox');
    await world.registry.deliver(requestOf(envelope), JOB, 'bus');
    await writeSpool(world.paths, envelope);
    const first = await until(async () => (await world.registry.inboxRow(envelope.id))?.answer);
    await until(async () => !(await spooled(world)).some((name) => name.endsWith('.json')));
    await world.reach('failed');
    expect((await world.registry.inboxRow(envelope.id))?.answer).toEqual(first);
    expect((await world.registry.deliver(requestOf(envelope), JOB, 'spool')).answer).toEqual(first);
    expect(await log(world, 'failed')).toMatchObject([{ verdict: 'take', version: first.version }]);
  });

  it.each<[string, (envelope: Envelope) => Envelope, string]>([
    ['altered one', (e) => ({ ...e, event: { type: 'failed' } }), 'bad_signature'],
    ['forged one', (e) => ({ ...e, sig: 'f'.repeat(64) }), 'bad_signature'],
    ['foreign one', (e) => ({ ...e, attempt: 2 }), 'other_attempt'],
  ])('of the envelopes put right into the inbox, the %s is refused, logged, nothing else', async (_, alter, reason) => {
    const world = await driven();
    const honest = { job: JOB, attempt: 1, seq: 1, event: { type: 'progress' }, now: 0 };
    const envelope = alter(makeEnvelope(honest, await world.key()));
    await world.registry.deliver(requestOf(envelope), JOB, 'inbox');
    const answer = await until(async () => (await world.registry.inboxRow(envelope.id))?.answer);
    expect(answer).toMatchObject({ verdict: 'refused', reason });
    expect(await log(world, envelope.event.type)).toMatchObject([{ verdict: 'refused', reason }]);
    expect((await world.row()).phase).toBe('injected');
  });
});

describe('without a driver', () => {
  it('an event is queued, and decided by the next driver', async () => {
    const world = await undriven();
    const result = await emit(world, 'failed');
    expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^queued: nobody drives this job now/) });
    expect((await world.registry.undecided(JOB)).map(({ way }) => way)).toEqual(['inbox']);
    await world.drive();
    expect((await world.reach('failed')).outcome).toEqual({ status: 'failed', reason: 'agent_failed' });
  });

  it('and under a lease whose driver does not answer, it is queued after a while', async () => {
    const world = await undriven();
    const silent = { id: 'silent', host: 'h', pid: 1, started: 's', build: 'b' };
    expect(await world.registry.claim(JOB, silent, 60_000, 60_000, () => false)).not.toBeNull();
    const result = await emit(world, 'started');
    expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^queued: the driver has not answered/) });
    expect(await world.registry.undecided(JOB)).toHaveLength(1);
  });

  it('an envelope says what was asked, signed, numbered, its detail cut', async () => {
    const world = await undriven();
    await emit(world, 'started');
    const result = await emit(world, 'progress', '--detail', '😀'.repeat(3000), '--json');
    const told = JSON.parse(result.out) as Record<string, unknown>;
    expect(told).toMatchObject({ event: 'progress', job: JOB, attempt: 1, outcome: 'queued', seq: 2, version: null });
    const request = (await world.registry.inboxRow(String(told.id)))?.request;
    const envelope = request?.from === 'agent' ? request.envelope : null;
    expect(envelope && verifyEnvelope(envelope, await world.key())).toBe(true);
    expect(envelope?.event.detail).toBe('😀'.repeat(2000));
  });

  it('a completed names the manifest, and its artifacts are signed with it', async () => {
    const world = await undriven();
    await withReport(world);
    await mkdir(join(world.cwd, 'out'));
    for (const name of ['a', 'b', 'c']) await writeFile(join(world.cwd, 'out', name), name);
    const artifacts = ['--artifact', 'out/a', 'out/b', '--artifact', 'out/c'];
    const { code, out } = await emit(world, 'completed', '--report', world.paths.report, ...artifacts, '--json');
    expect(code).toBe(0);
    const { manifest, id } = JSON.parse(out) as { manifest: string; id: string };
    expect(manifest).toMatch(/^[0-9a-f]{64}$/);
    const request = (await world.registry.inboxRow(id))?.request;
    expect(request).toMatchObject({ envelope: { event: { type: 'completed', manifest } } });
    const { files } = JSON.parse(await readFile(world.paths.manifest, 'utf8')) as { files: { path: string }[] };
    expect(files.map(({ path }) => path)).toEqual(['.stepward/job1/1/report.md', 'out/a', 'out/b', 'out/c']);
  });
});

describe('in a sandbox that hides the registry', () => {
  it('an event is spooled, and the driver picks it up', async () => {
    const world = await undriven();
    await withReport(world);
    const showRegistry = await hideRegistry(world);
    const result = await emit(world, 'completed', '--report', world.paths.report);
    expect(result).toEqual({ code: 0, out: 'spooled: the driver will pick it up\n', err: '' });
    await showRegistry();
    await world.drive();
    expect((await world.reach('completed')).outcome?.reason).toBe('reported');
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['is a file', (world) => writeFile(world.registryDir, '')],
    ['holds no registry', (world) => mkdir(world.registryDir)],
    [
      'holds something else under its name',
      async (world) => {
        await mkdir(world.registryDir);
        await writeFile(join(world.registryDir, 'registry.db'), 'this is no database, '.repeat(200));
      },
    ],
  ])('or a registry that %s', async (_, put) => {
    const world = await undriven();
    const showRegistry = await hideRegistry(world);
    await put(world);
    expect(await emit(world, 'started')).toMatchObject({ code: 0, out: expect.stringMatching(/^spooled: /) });
    const [file = ''] = await spooled(world);
    const envelope = parseEnvelope(await readFile(join(world.paths.spool, file), 'utf8'));
    expect(verifyEnvelope(envelope, await readFile(world.paths.key, 'utf8'))).toBe(true);
    await rm(world.registryDir, { recursive: true });
    await showRegistry();
  });

  it('never makes a registry', async () => {
    const world = await undriven();
    const showRegistry = await hideRegistry(world);
    await emit(world, 'started');
    expect(await readdir(world.root)).not.toContain('registry');
    await showRegistry();
  });

  it('with a spool that cannot be written either, it is an error that names both', async () => {
    const world = await undriven();
    const showRegistry = await hideRegistry(world);
    await rm(world.paths.spool, { recursive: true });
    await writeFile(world.paths.spool, '');
    const { code, out, err } = await emit(world, 'started');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(world.registryDir);
    expect(err).toContain(world.paths.spool);
    await showRegistry();
  });
});

describe('refused with exit 4 is', () => {
  it('an attempt that is over, before anything else is looked at', async () => {
    const world = await driven();
    await emit(world, 'failed');
    const ended = await world.reach('failed');
    await until(async () => (await world.row()).cleanup === 'done');
    await world.driver.stop();
    const redispatch = { type: 'redispatch' as const, attempt: 2 };
    await world.registry.deliver({ from: 'person', id: 'again', event: redispatch, by: 'test' }, JOB, 'inbox');
    await world.drive();
    await until(async () => (await world.row()).attempt === 2);
    const version = (await world.row()).version;
    expect(version).toBeGreaterThan(ended.version);
    const result = await emit(world, 'failed', '--detail', 'late news of attempt 1');
    expect(result).toMatchObject({ code: 4, err: expect.stringMatching(/^refused: other_attempt/) });
    expect((await log(world, 'failed')).at(-1)).toMatchObject({ verdict: 'refused', reason: 'other_attempt' });
  });

  it('a job that the registry does not know', async () => {
    const world = await undriven();
    await rename(world.paths.dir, join(world.root, 'dir'));
    await mkdir(join(world.cwd, '.stepward', 'job9'), { recursive: true });
    const dir = join(world.cwd, '.stepward', 'job9', '1');
    await rename(join(world.root, 'dir'), dir);
    const env = JSON.parse(await readFile(join(dir, 'env.json'), 'utf8')) as object;
    await writeFile(join(dir, 'env.json'), JSON.stringify({ ...env, job: 'job9' }));
    const result = await run(emitMain, ['started', '--job', 'job9', '--attempt', '1', '--json'], { cwd: world.cwd });
    expect(result.code).toBe(4);
    expect(JSON.parse(result.out)).toMatchObject({
      outcome: 'refused',
      reason: 'unknown_job',
      message: 'refused: unknown_job',
    });
  });

  it('an attempt that has no directory here', async () => {
    const world = await undriven();
    const result = await run(emitMain, ['started', '--job', JOB, '--attempt', '2'], { cwd: world.cwd });
    expect(result).toMatchObject({ code: 4, err: expect.stringContaining('no directory of job job1, attempt 2') });
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['gone', (world) => rm(world.paths.key)],
    [
      'unreadable',
      async (world) => {
        await rm(world.paths.key);
        await symlink('/nowhere', world.paths.key);
      },
    ],
  ])('an attempt whose key is %s: nothing is handed over', async (_, spoil) => {
    const world = await undriven();
    await spoil(world);
    const result = await emit(world, 'started', '--json');
    expect(result).toMatchObject({ code: 4, err: expect.stringContaining(world.paths.key) });
    expect(JSON.parse(result.out)).toMatchObject({ outcome: 'refused', exit: 4 });
    expect(await world.registry.undecided(JOB)).toEqual([]);
    expect(await spooled(world)).toEqual([]);
  });
});

describe('bad input is answered with exit 64 and what is allowed, and nothing is handed over:', () => {
  it.each<[string, string[], string]>([
    ['no event', [], 'EVENT: is missing; allowed: started, progress'],
    ['an unknown event', ['done'], `EVENT: "done" is no event; allowed: ${AGENT_EVENTS.join(', ')}`],
    ['an event of the machine’s own', ['xstate.stop'], 'is no event'],
    ['two events', ['started', 'progress'], 'EVENT: "progress" is one word too many'],
    ['an unknown option', ['started', '--force'], "Unknown option '--force'"],
    ['an option without its value', ['progress', '--detail'], '--detail'],
    [
      'a report with news',
      ['progress', '--report', 'r.md'],
      '--report: does not go with progress; allowed: with completed',
    ],
    ['an artifact alone', ['completed', '--artifact', 'a'], '--artifact: needs --report too'],
    ['no report at all', ['completed'], '--report: is missing, and there is no manifest.json'],
    ['a report that is missing', ['completed', '--report', 'no.md'], '--report: "no.md" does not exist; allowed: '],
    ['a report outside', ['completed', '--report', '/etc/passwd'], '"/etc/passwd" lies outside the working directory'],
    ['a link out', ['completed', '--report', 'link.md'], '"link.md" lies outside'],
    ['an empty report', ['completed', '--report', 'empty.md'], '"empty.md" is empty'],
    ['half an address', ['started', '--job', 'job1'], '--job: "job1" needs --attempt too'],
  ])('%s', async (_, argv, sentence) => {
    const world = await undriven();
    await writeFile(join(world.root, 'outside.md'), 'x');
    await symlink('../outside.md', join(world.cwd, 'link.md'));
    await writeFile(join(world.cwd, 'empty.md'), '');
    const { code, out, err } = await emit(world, ...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(sentence);
    expect(await world.registry.undecided(JOB)).toEqual([]);
    expect(await spooled(world)).toEqual([]);
    expect(await readdir(world.paths.dir)).not.toContain('manifest.json');
  });

  it('a report that changed after it was finalized', async () => {
    const world = await undriven();
    await withReport(world);
    const { reportMain } = await import('../../src/cli/report.ts');
    await run(reportMain, ['finalize'], { cwd: world.cwd, env: { STEPWARD_ENV: world.paths.env } });
    await writeFile(world.paths.report, '# Else\n');
    const result = await emit(world, 'completed');
    expect(result).toMatchObject({ code: 64, err: expect.stringContaining('report.md has changed since') });
  });

  it('neither the environment nor an address', async () => {
    const world = await undriven();
    const result = await run(emitMain, ['started', '--json'], { cwd: world.cwd });
    expect(result).toMatchObject({ code: 64, err: expect.stringContaining('STEPWARD_ENV') });
    expect(JSON.parse(result.out)).toMatchObject({ outcome: 'usage', exit: 64 });
  });

  it('while help needs nothing and goes to stdout', async () => {
    expect(await run(emitMain, ['--help'], { cwd: '/' })).toEqual({ code: 0, out: emitUsage, err: '' });
    for (const event of AGENT_EVENTS) expect(emitUsage).toContain(event);
  });
});

describe('as a process', () => {
  const bin = resolve(import.meta.dirname, '../../dist/stepward.cjs');

  it('of the bundle: found by walking up, from a directory below, committed, printed', async () => {
    const world = await driven();
    const below = join(world.cwd, 'src', 'deep');
    await mkdir(below, { recursive: true });
    const argv = [bin, 'emit', 'progress', '--job', JOB, '--attempt', '1', '--detail', 'from below'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { cwd: below });
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^committed as version \d+\n$/), stderr: '' });
  });

  it('many at once: every one gets its own number, none is lost', async () => {
    const world = await driven();
    const env = { ...process.env, STEPWARD_ENV: world.paths.env };
    const types: AgentEventType[] = ['started', 'progress', 'permission_required', 'permission_cleared'];
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        promisify(execFile)(process.execPath, [bin, 'emit', types[i % 4]!, '--json'], { cwd: world.cwd, env }),
      ),
    );
    const told = all.map(({ stdout }) => JSON.parse(stdout) as { seq: number; outcome: string; id: string });
    expect(told.map(({ seq }) => seq).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(told.filter(({ outcome }) => outcome === 'spooled')).toEqual([]);
    for (const { id } of told) await until(async () => (await world.registry.inboxRow(id))?.answer);
    const taken = (await world.registry.log({ job: JOB })).filter(
      ({ from, verdict }) => from === 'agent' && verdict === 'take',
    );
    expect(taken).toHaveLength(8);
  });

  it('with the exit code of a usage error', async () => {
    const run = promisify(execFile)(process.execPath, [bin, 'emit', 'nonsense']);
    await expect(run).rejects.toMatchObject({ code: 64, stderr: expect.stringContaining('allowed: started') });
  });
});
