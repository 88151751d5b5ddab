// `emit` where the bus is a way of the attempt, or the only one.
import { execFile } from 'node:child_process';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { emitMain } from '../../../src/cli/emit.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Way } from '../../../src/kernel/ports.ts';
import { openSqliteRegistry } from '../../../src/registry/sqlite/open.ts';
import { prepareAttempt, writeBusAddress } from '../../../src/signals/attempt.ts';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { makeReceipt } from '../../../src/signals/bus/receipts.ts';
import { eventsFilter, receiptsTopic } from '../../../src/signals/bus/topics.ts';
import type { AgentAddress } from '../../../src/signals/bus/types.ts';
import { parseEnvelope } from '../../../src/signals/envelope.ts';
import { newKey } from '../../../src/signals/signature.ts';
import { run } from '../../cli/agent-run.ts';
import { freePort } from '../../support/ports.ts';
import { driven, JOB, undriven, until, type World } from '../world.ts';
import { driverAddress, hearing, openBus, PREFIX, up, voice } from './support.ts';

/** An attempt with these ways, whose agent knows the embedded broker or the address that is given. */
async function speaker(world: World, ways: Way[], given?: AgentAddress | null) {
  const { cwd, registryDir } = world;
  const key = await world.key();
  const bus = openBus(world);
  await up(bus);
  const address = given === undefined ? addressIn(await until(() => readBook(registryDir)), 'agent') : given;
  await bus.stop();
  const whole = { cwd, job: JOB, attempt: 1, key, registryDir, brief: '', command: 'stepward' };
  const paths = await prepareAttempt({ ...whole, ways });
  await writeBusAddress(paths, address);
  const emit = (...argv: string[]) => run(emitMain, argv, { cwd, env: { STEPWARD_ENV: paths.env } });
  const told = async (...argv: string[]) => JSON.parse((await emit(...argv, '--json')).out) as Record<string, unknown>;
  return { emit, told, paths, key };
}

const files = async (world: World) => (await readdir(world.paths.spool)).filter((name) => name.endsWith('.json'));

describe('emit', () => {
  it('uses the inbox where it can, and says so', async () => {
    const world = await driven();
    const { told } = await speaker(world, ['inbox', 'bus', 'spool']);
    expect(await told('progress')).toMatchObject({ outcome: 'committed', way: 'inbox' });
  });

  it('uses the bus where the registry is out of reach', async () => {
    const world = await driven();
    const { told, paths } = await speaker(world, ['inbox', 'bus', 'spool']);
    await hearing(openBus(world));
    const env = JSON.parse(await readFile(paths.env, 'utf8')) as object;
    await writeFile(paths.env, JSON.stringify({ ...env, registryDir: join(world.root, 'hidden') }));
    expect(await told('progress')).toMatchObject({ outcome: 'committed', way: 'bus', version: expect.any(Number) });
    expect((await world.registry.log({ job: JOB })).at(-1)).toMatchObject({ what: 'progress', verdict: 'take' });
  });

  it('that may not use the inbox does not look at the registry: one that knows nothing of the job refuses nothing', async () => {
    const world = await driven();
    const { told, paths } = await speaker(world, ['spool'], null);
    const other = await openSqliteRegistry({ dir: join(world.root, 'other'), clock: systemClock });
    await other.close();
    const env = JSON.parse(await readFile(paths.env, 'utf8')) as object;
    await writeFile(paths.env, JSON.stringify({ ...env, registryDir: join(world.root, 'other') }));
    expect(await told('progress')).toMatchObject({ outcome: 'spooled', way: 'spool' });
    await writeFile(paths.env, JSON.stringify({ ...env, ways: undefined, registryDir: join(world.root, 'other') }));
    expect(await told('progress')).toMatchObject({ outcome: 'refused', reason: 'unknown_job', way: null });
  });

  it('of the bundle, as a process: the file that it loads for the bus is there and works', async () => {
    const world = await driven();
    const { paths } = await speaker(world, ['bus']);
    await hearing(openBus(world));
    const bin = resolve(import.meta.dirname, '../../../dist/stepward.cjs');
    const env = { ...process.env, STEPWARD_ENV: paths.env };
    const argv = [bin, 'emit', 'progress'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { cwd: world.cwd, env });
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^committed as version \d+\n$/), stderr: '' });
  });

  it('finds the spool where the bus is dead, or nobody has told where it is', async () => {
    const world = await undriven();
    const dead = { ...(await driverAddressOf(world)), url: `mqtt://127.0.0.1:${await freePort()}` };
    for (const address of [dead, null]) {
      const { told } = await speaker(world, ['bus', 'spool'], address);
      expect(await told('progress')).toMatchObject({ outcome: 'spooled', way: 'spool' });
    }
    expect(await files(world)).toHaveLength(2);
  });

  it('is told that it is kept where a driver has it and does not decide', async () => {
    const world = await undriven();
    const { emit } = await speaker(world, ['bus']);
    await hearing(openBus(world));
    const queued = 'queued: the driver has not answered yet; the event is kept\n';
    expect(await emit('progress')).toEqual({ code: 0, out: queued, err: '' });
    expect((await world.registry.undecided(JOB)).map(({ way }) => way)).toEqual(['bus']);
  });

  it('without another way, where the bus refuses it and no driver reads the disk: exit 1, kept in a file', async () => {
    const world = await undriven();
    const address = await driverAddressOf(world);
    const wrong = { ...address, credentials: { username: 'agent', password: 'x' } };
    const { emit, paths } = await speaker(world, ['bus'], wrong);
    await up(openBus(world));
    const { code, out, err } = await emit('failed', '--detail', 'no licence');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const [, file = ''] =
      /^not confirmed: .*refuses the login.*; kept in (\S+) in case.*; run the same command again\n$/.exec(err) ?? [];
    expect(file.startsWith(paths.spool)).toBe(true);
    expect(parseEnvelope(await readFile(file, 'utf8'))).toMatchObject({ event: { type: 'failed' } });
  });

  it('without another way, where a driver reads the disk all the same: taken from there, exit 0', async () => {
    const world = await driven();
    // Nobody listens there, so emit would go on for long if it did not see that its file was taken.
    const { emit } = await speaker(world, ['bus'], { ...(await driverAddressOf(world)), url: 'mqtt://127.0.0.1:1' });
    expect(await emit('failed', '--detail', 'no licence')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^spooled/),
    });
    expect((await world.reach('failed')).outcome?.reason).toBe('agent_failed');
  });

  it('does not go by the bus where that is no way of the attempt, however far the others are', async () => {
    const world = await undriven();
    const { told, paths } = await speaker(world, ['inbox']);
    const bus = openBus(world);
    await hearing(bus);
    const env = JSON.parse(await readFile(paths.env, 'utf8')) as object;
    await writeFile(paths.env, JSON.stringify({ ...env, registryDir: join(world.root, 'nowhere') }));
    const { outcome, message } = await told('progress');
    expect(outcome).toBe('unconfirmed');
    expect(message).toMatch(/^not confirmed: the registry is out of reach/);
    expect(message).not.toContain('the bus');
    expect(await world.registry.undecided(JOB)).toEqual([]);
  });

  it('in words for tools: unconfirmed, by the spool', async () => {
    const world = await undriven();
    const address = await driverAddressOf(world);
    const { told } = await speaker(world, ['bus'], { ...address, protocol: 5 });
    await up(openBus(world));
    expect(await told('progress')).toMatchObject({ outcome: 'unconfirmed', way: 'spool', version: null });
    const [file = ''] = await files(world);
    expect(parseEnvelope(await readFile(join(world.paths.spool, file), 'utf8'))).toMatchObject({
      event: { type: 'progress' },
    });
  });

  it('a receipt that is not the driver’s is not believed', async () => {
    const world = await driven();
    const { emit, key } = await speaker(world, ['bus', 'spool']);
    // Nobody follows the job: whatever answers is no driver.
    await up(openBus(world));
    const liar = await voice(await driverAddress(world), eventsFilter(PREFIX, JOB));
    const emitted = emit('progress', '--json');
    const heard = await until(() => liar.heard[0]);
    const envelope = JSON.parse(heard.payload) as Parameters<typeof makeReceipt>[0];
    const answer = { verdict: 'take', version: 99, reason: null, phase: 'injected' } as const;
    const topic = receiptsTopic(PREFIX, JOB, 1);
    const lies = [
      makeReceipt(envelope, answer, 0, newKey()),
      makeReceipt({ ...envelope, id: 'another' }, answer, 0, key),
      makeReceipt({ ...envelope, attempt: 2 }, answer, 0, key),
      { ...makeReceipt(envelope, null, 0, key), answer },
    ];
    for (const lie of lies) await liar.link.publish(topic, JSON.stringify(lie), false);
    await liar.link.publish(topic, 'no receipt at all', false);
    const { out, code } = await emitted;
    expect({ code, told: JSON.parse(out) }).toMatchObject({ code: 0, told: { outcome: 'spooled', way: 'spool' } });
  });

  it('repeats itself while it has no other way: a broker that comes late still hears it', async () => {
    const world = await driven();
    const { emit } = await speaker(world, ['bus']);
    const emitted = emit('progress');
    await hearing(openBus(world));
    expect(await emitted).toMatchObject({ code: 0, out: expect.stringMatching(/^committed as version/) });
    expect((await world.registry.log({ job: JOB })).filter(({ what }) => what === 'progress')).toHaveLength(1);
  });

  it('follows a broker that has moved, once the driver has written where to', async () => {
    const world = await driven();
    const { emit, paths } = await speaker(world, ['bus'], {
      ...(await driverAddressOf(world)),
      url: `mqtt://127.0.0.1:${await freePort()}`,
    });
    const emitted = emit('progress');
    const bus = openBus(world);
    await hearing(bus);
    await writeBusAddress(paths, bus.agentAddress());
    expect(await emitted).toMatchObject({ code: 0 });
  });
});

describe('an attempt’s bus.json', () => {
  it('is written where it changed, swept away or not, and goes with the key', async () => {
    const world = await undriven();
    const address = await driverAddressOf(world);
    const { paths } = await speaker(world, ['bus'], address);
    const read = async () => JSON.parse(await readFile(paths.bus, 'utf8')) as AgentAddress;
    expect(await read()).toEqual(address);
    await rename(join(world.cwd, '.stepward'), join(world.root, 'swept'));
    await writeBusAddress(paths, { ...address, url: 'mqtt://127.0.0.1:1' });
    expect((await read()).url).toBe('mqtt://127.0.0.1:1');
    await writeBusAddress(paths, null);
    expect(await readdir(paths.dir)).not.toContain('bus.json');
  });
});

/** Before any broker has run here there is no book: this one runs for a moment. */
async function driverAddressOf(world: World): Promise<AgentAddress> {
  const bus = openBus(world);
  await up(bus);
  await bus.stop();
  return driverAddress(world);
}
