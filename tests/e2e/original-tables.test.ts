// The original system's test tables T1 and T3 (reference, section 13), in our terms: real processes, no mock.
// T1-4 and T1-5 need the bus; T1-8 and T1-12 do not apply (never fail open, no bare iteration).
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quote } from '../../src/transports/quote.ts';
import { processesIn, project, registered } from './support.ts';

const ENDS = ['completed', 'failed', 'cancelled'];

describe('T1: fail closed', () => {
  it('T1-1 nobody says anything: exit 2, the job is an error, one end in the log, no process left', async () => {
    const p = project();
    const args = ['delegate', '--agent', 'human', '--prompt', 'x', '--timeout', '6s', '--idle-timeout', '2s'];
    const { code, stderr } = await p.run(args);
    expect(code).toBe(2);
    const id = registered(stderr);
    expect(await p.status(id)).toMatchObject({ status: 'error', state: 'failed', exit: 2, reason: 'idle_timeout' });
    const log = await p.log(id);
    const ends = log.filter(({ phase, verdict }) => ENDS.includes(String(phase)) && verdict === 'take');
    expect(new Set(ends.map(({ phase }) => phase))).toEqual(new Set(['failed']));
    expect(processesIn(p.dir)).toEqual([]);
  });

  it('T1-2 a worker that stays silent: exit 2, and the worker is stopped', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('silent', '--idle-timeout', '1s'));
    expect(code).toBe(2);
    expect(await p.status(registered(stderr))).toMatchObject({ status: 'error', exit: 2, reason: 'idle_timeout' });
    expect(p.starts()).toHaveLength(1);
    expect(processesIn(p.dir)).toEqual([]);
  });

  it('T1-3 and T1-6 a close that comes after completed: exit 0, a line that says so, unchanged', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('completes'));
    expect(code).toBe(0);
    const id = registered(stderr);
    const before = await p.status(id);
    const close = await p.run(['close', id, '--request', 'deadline_timeout']);
    expect(close.code).toBe(0);
    expect(close.stdout).toMatch(/already|has ended|completed/);
    expect(await p.status(id)).toEqual(before);
  });

  it('T1-3 completed and close at the same moment: one of them wins, and both are told the truth', async () => {
    const p = project();
    const driver = p.start(p.delegate('waitsForFile', '--timeout', '1m'));
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/working|notBegun/);
    writeFileSync(join(p.dir, 'go'), '');
    const close = await p.run(['close', id, '--request', 'deadline_timeout']);
    const { code } = await driver.ended;
    const { exit, state } = await p.status(id);
    expect(code).toBe(exit);
    // In finalizing the table refuses it, in words on stdout.
    expect(close.code).toBe(state === 'completed' && /refused/.test(close.stdout) ? 4 : 0);
    const ends = (await p.log(id)).filter(({ phase, verdict }) => ENDS.includes(String(phase)) && verdict === 'take');
    expect(new Set(ends.map(({ phase }) => phase)).size).toBe(1);
  });

  it('T1-7 a spawn that fails, on a registry of one’s own: exit 5, not_delivered, in that registry', async () => {
    const p = project();
    const broken = join(p.dir, 'broken-agent');
    writeFileSync(broken, '#!/no/such/interpreter\n');
    chmodSync(broken, 0o755);
    const registry = join(p.dir, 'elsewhere');
    const args = ['delegate', '--registry', registry, '--agent', 'command', '--prompt', 'x', '--', broken];
    const { code, stderr } = await p.run(args);
    expect(code).toBe(5);
    const told = await p.status(registered(stderr), '--registry', registry);
    expect(told).toMatchObject({ status: 'cancelled', exit: 5, reason: 'not_delivered' });
    expect(existsSync(join(p.dir, '.stepward', 'registry.db'))).toBe(false);
  });

  it('T1-9 a dry run starts no process and writes nothing', async () => {
    const p = project();
    const { code, stdout } = await p.run(p.delegate('completes', '--dry-run', '--json'));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ agent: expect.anything() });
    expect(p.starts()).toEqual([]);
    expect(readdirSync(p.dir)).toEqual([]);
  });

  it('T1-10 and T1-11 redispatch to attempt 2 after completed: pending; to the same attempt again: exit 4', async () => {
    const p = project();
    const id = registered((await p.run(p.delegate('completes'))).stderr);
    expect((await p.run(['redispatch', id, '--attempt', '2'])).code).toBe(0);
    expect(await p.status(id)).toMatchObject({ status: 'pending', attempt: 2, exit: null });
    const again = await p.run(['redispatch', id, '--attempt', '2']);
    expect(again.code).toBe(4);
    expect(await p.status(id)).toMatchObject({ status: 'pending', attempt: 2 });
  });

  it('T1-13 close cancelled: pending → cancelled; completed → unchanged; then redispatch → pending', async () => {
    const p = project();
    const first = p.start(['delegate', '--agent', 'human', '--prompt', 'a', '--session', 'human:desk']);
    await first.says(/emit progress/);
    const second = p.start(['delegate', '--agent', 'human', '--prompt', 'b', '--session', 'human:desk']);
    const id = await second.says(/registered job: (\S+)/);
    await second.says(/queued/);
    expect((await p.run(['close', id, '--request', 'cancelled', '--detail', 'session_busy'])).code).toBe(0);
    expect((await second.ended).code).toBe(1);
    expect(await p.status(id)).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
    expect((await p.run(['redispatch', id, '--attempt', '2'])).code).toBe(0);
    expect(await p.status(id)).toMatchObject({ status: 'pending', attempt: 2 });

    const done = registered((await p.run(p.delegate('completes'))).stderr);
    const close = await p.run(['close', done, '--request', 'cancelled']);
    expect(close.code).toBe(0);
    expect(await p.status(done)).toMatchObject({ status: 'completed', attempt: 1 });
    first.child.kill('SIGINT');
    await first.ended;
  });
});

describe('T3: the caller learns it', () => {
  it('T3-1 and T3-2 a delegate that ends badly has told the id; waiting for it does not wait; the row is there', async () => {
    const p = project();
    const { code, stderr } = await p.run(p.delegate('fails'));
    expect(code).toBe(1);
    const id = registered(stderr);
    expect(stderr.split('\n')[0]).toBe(`registered job: ${id}`);
    expect((await p.run(['wait', id])).code).toBe(1);
    expect(await p.status('@last')).toMatchObject({ id, status: 'error', reason: 'agent_failed' });
  });

  it('T3-3 never delivered, then a second attempt of the same job: exit 5, then 0', async () => {
    const p = project();
    const agent = join(p.dir, 'agent');
    writeFileSync(agent, '#!/no/such/interpreter\n');
    chmodSync(agent, 0o755);
    const first = await p.run(['delegate', '--agent', 'command', '--prompt', 'x', '--', agent]);
    expect(first.code).toBe(5);
    const id = registered(first.stderr);
    writeFileSync(agent, `#!/bin/sh\nexec ${p.agent('completes').slice(1).map(quote).join(' ')}\n`);
    expect((await p.run(['redispatch', id])).code).toBe(0);
    expect((await p.run(['resume', id])).code).toBe(0);
    expect(await p.status(id)).toMatchObject({ status: 'completed', attempt: 2, exit: 0 });
    expect(p.starts()).toHaveLength(1);
  });

  it('T3-3 never delivered twice: exit 5 again, and no third try', async () => {
    const p = project();
    const agent = join(p.dir, 'agent');
    writeFileSync(agent, '#!/no/such/interpreter\n');
    chmodSync(agent, 0o755);
    const id = registered((await p.run(['delegate', '--agent', 'command', '--prompt', 'x', '--', agent])).stderr);
    await p.run(['redispatch', id]);
    expect((await p.run(['resume', id])).code).toBe(5);
    expect((await p.run(['wait', id])).code).toBe(5);
    expect(await p.status(id)).toMatchObject({ status: 'cancelled', attempt: 2, reason: 'not_delivered' });
  });
});
