// The effects of the channel (src/jobs/channel.ts): what a job does whose agent can speak by the bus alone, and what any other
// is told.
import { afterEach, describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../machines/job/exit.ts';
import { ChannelWorld, JOB } from './channel-world.ts';
import { MemoryBus } from './memory-bus.ts';

let world: ChannelWorld;
const bus = () => new MemoryBus();
afterEach(async () => {
  await world.end();
  expect(world.warnings).toEqual([]);
});

const state = async (): Promise<string> => (await world.row()).state;
const away = async () => (await world.row()).snapshot.context.busAway;
const FIRST = 'the first connection to the bus is being made';

describe('a job whose agent can speak by the bus alone', () => {
  it('is sent nothing until it is heard, and says why not', async () => {
    const line = bus();
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    expect([await state(), await away()]).toEqual(['subscribed', FIRST]);
    line.away('connection refused');
    await world.clock.pass(250);
    expect([await state(), await away()]).toEqual(['subscribed', 'connection refused']);
    line.there();
    await world.clock.pass(250);
    expect(await state()).toBe('subscribed');
    line.there(JOB);
    await world.clock.pass(250);
    expect([await state(), await away()]).toEqual(['injected.notBegun', null]);
    expect(await world.told()).toEqual([`lost ${FIRST}`, 'lost connection refused', 'back']);
    await world.end();
    expect(line.waiting).toBe(0);
  });

  it('goes on at once where it is heard already', async () => {
    const line = bus();
    line.there(JOB);
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    expect(await state()).toBe('injected.notBegun');
    expect(await world.told()).toEqual([]);
  });

  it('ends cancelled no_channel, exit 5, with the reason, if it is not heard within 30 s', async () => {
    const line = bus();
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    line.away('the broker refuses the login');
    await world.clock.pass(31_000);
    const { outcome, snapshot } = await world.row();
    expect(outcome).toEqual({ status: 'cancelled', reason: 'no_channel' });
    expect(snapshot.context.detail).toBe('the broker refuses the login');
    expect(exitCodeOf(outcome!)).toBe(5);
    expect(line.waiting).toBe(0);
  });

  it('ends so at once where no bus is configured', async () => {
    world = await ChannelWorld.with(['bus']);
    await world.drive(null);
    const { outcome, snapshot } = await world.row();
    expect(outcome).toEqual({ status: 'cancelled', reason: 'no_channel' });
    expect(snapshot.context.detail).toMatch(/no bus is configured/);
  });

  it('is told at once when the bus goes away and when it is back, and its idle clock stands still meanwhile', async () => {
    const line = bus();
    line.there(JOB);
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    line.away('reset by peer');
    await world.clock.pass(250);
    expect(await away()).toBe('reset by peer');
    // Longer than the idle timeout.
    await world.clock.pass(700_000);
    expect(await state()).toBe('injected.notBegun');
    line.there(JOB);
    await world.clock.pass(250);
    expect(await away()).toBeNull();
    const timers = await world.registry.timers(JOB);
    const idle = timers.find(({ delay }) => delay === 'idleTimeout')!;
    expect(idle.fireAt).toBeGreaterThan(world.clock.now() + 590_000);
  });

  it('ends failed bus_away, exit 3, with the newest reason, if the bus is away at the deadline', async () => {
    const line = bus();
    line.there(JOB);
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    line.away('reset by peer');
    await world.clock.pass(40_000);
    line.away('no route to host');
    await world.clock.pass(3_600_000);
    const { outcome, snapshot } = await world.row();
    expect(outcome).toEqual({ status: 'failed', reason: 'bus_away' });
    expect(snapshot.context.detail).toBe('no route to host');
    expect(exitCodeOf(outcome!)).toBe(3);
  });

  it('is not heard by a driver without a bus, and is again by the next one with a bus', async () => {
    const line = bus();
    line.there(JOB);
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    await world.drive(null);
    expect(await away()).toMatch(/no bus is configured/);
    await world.clock.pass(10_000);
    await world.drive(line);
    expect(await away()).toBeNull();
  });
});

describe('another reason while the bus stays away', () => {
  it('is told at most every 30 s', async () => {
    const line = bus();
    line.there(JOB);
    world = await ChannelWorld.with(['bus']);
    await world.drive(line);
    for (let i = 0; i < 40; i++) {
      line.away(i % 2 === 0 ? 'refused' : 'reset');
      await world.clock.pass(1_000);
    }
    const told = await world.told();
    expect(told.slice(0, 2)).toEqual(['lost refused', 'lost reset']);
    expect(told).toHaveLength(2);
  });
});

describe('a job whose agent can speak otherwise, too', () => {
  it('does not wait for the bus, and is not told of one that is just being connected', async () => {
    const line = bus();
    world = await ChannelWorld.with(['inbox', 'bus', 'spool']);
    await world.drive(line);
    expect(await state()).toBe('injected.notBegun');
    line.there(JOB);
    await world.clock.pass(10_000);
    expect(await world.told()).toEqual([]);
    line.away('reset by peer');
    await world.clock.pass(250);
    expect(await world.told()).toEqual(['lost reset by peer']);
  });

  it('is told after 3 s that the bus is not there, and the disk is read meanwhile', async () => {
    const line = bus();
    line.away('connection refused');
    world = await ChannelWorld.with(['bus', 'spool']);
    await world.drive(line);
    expect(await world.told()).toEqual([]);
    await world.clock.pass(20_000);
    expect(await world.told()).toEqual(['lost connection refused']);
    const reads = (await world.registry.log({ job: JOB })).filter(({ what }) => what === 'done readDisk');
    expect(reads.length).toBeGreaterThan(3);
    line.there(JOB);
    await world.clock.pass(250);
    expect(await world.told()).toEqual(['lost connection refused', 'back']);
  });

  it('comes to its idle timeout, wherever the bus is', async () => {
    const line = bus();
    line.away('connection refused');
    world = await ChannelWorld.with(['inbox', 'bus']);
    await world.drive(line);
    await world.clock.pass(620_000);
    expect((await world.row()).outcome).toEqual({ status: 'failed', reason: 'idle_timeout' });
  });

  it('connects to no bus where its agent may not use one', async () => {
    world = await ChannelWorld.with(['inbox', 'spool']);
    await world.drive(bus());
    await world.clock.pass(10_000);
    expect(await state()).toBe('injected.notBegun');
    expect(world.asked).toBe(0);
    expect(await world.told()).toEqual([]);
  });

  it('goes on where no bus is configured', async () => {
    world = await ChannelWorld.with(['inbox', 'bus', 'spool']);
    await world.drive(null);
    await world.clock.pass(10_000);
    expect(await state()).toBe('injected.notBegun');
    expect(await world.told()).toEqual([]);
  });
});
