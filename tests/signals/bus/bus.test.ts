// The embedded broker changing hands, and what its users may do to it.
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { connectLink } from '../../../src/signals/bus/client.ts';
import { eventsTopic, hostTopic, receiptsTopic, stateTopic } from '../../../src/signals/bus/topics.ts';
import { watcherAddress, watchTopics } from '../../../src/signals/bus/watch.ts';
import { driven, JOB, undriven, until, type World } from '../world.ts';
import { busProcess } from './processes.ts';
import { driverAddress, EMBEDDED, hearing, openBus, PREFIX, sign, untilBus, up, voice } from './support.ts';

const book = ({ registryDir }: World) => until(() => readBook(registryDir));
const agentOf = async (world: World) => addressIn(await book(world), 'agent');
const ears = async (world: World) => voice(await agentOf(world), receiptsTopic(PREFIX, JOB, 1));

describe('the embedded broker', () => {
  it('is up at once, and counts no connection before somebody comes', async () => {
    const world = await undriven();
    const bus = openBus(world);
    await up(bus);
    expect(bus.generation()).toBe(0);
    await hearing(bus);
    await bus.publish(stateTopic(PREFIX, JOB), 'nobody hears it', { retain: true });
    await voice(await agentOf(world));
    await untilBus(bus, () => bus.generation() === 1);
    expect(bus.agentAddress()).toEqual(await agentOf(world));
  });

  it('goes to the next driver with port and passwords: agents and followers come back by themselves', async () => {
    const world = await driven();
    const [first, second] = [openBus(world), openBus(world)];
    await Promise.all([hearing(first), hearing(second)]);
    const before = await book(world);
    await first.stop();
    // By the old port: an agent that finds nobody tries again.
    const agent = await until(() => ears(world).catch(() => null));
    await untilBus(second, () => second.hears(JOB));
    const envelope = await sign(world);
    await agent.say(envelope);
    await until(() => agent.receipts(envelope)[0]);
    expect(await book(world)).toEqual(before);
    expect([...first.warnings, ...second.warnings]).toEqual([]);
  });

  it('finds another port if a stranger has the one it had, and says so in the book', async () => {
    const world = await undriven();
    const first = openBus(world);
    await up(first);
    const before = await book(world);
    await first.stop();
    const stranger = createServer().listen(before.port, '127.0.0.1');
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
    const second = openBus(world);
    await up(second);
    const after = await book(world);
    expect(after.port).not.toBe(before.port);
    expect(after.users).toEqual(before.users);
    expect(second.agentAddress()).toEqual(addressIn(after, 'agent'));
  });

  it.each(['', '{', '[]', '{"schema":"stepward.bus/1","port":0}'])(
    'begins a new book where it finds %j',
    async (text) => {
      const world = await undriven();
      await writeFile(join(world.registryDir, 'bus.json'), text);
      const bus = openBus(world);
      await up(bus);
      expect(await book(world)).toMatchObject({ prefix: PREFIX, users: { agent: expect.stringMatching(/^.{43}$/) } });
      expect((await stat(join(world.registryDir, 'bus.json'))).mode & 0o777).toBe(0o600);
    },
  );

  it('serves one prefix: a driver with another one is told', async () => {
    const world = await undriven();
    await up(openBus(world));
    const other = openBus(world, { settings: { ...EMBEDDED, prefix: 'other' } });
    await untilBus(other, () => other.status().up || (other.status() as { why: string | null }).why !== null);
    expect(other.status()).toMatchObject({ why: expect.stringContaining(`the prefix ${PREFIX}, not other`) });
  });

  it('lets in its users only, with MQTT 3.1.1 only', async () => {
    const world = await undriven();
    await up(openBus(world));
    const address = await agentOf(world);
    const enter = (over: object, protocol: 4 | 5 = 4) =>
      connectLink({ address: { ...address, ...over }, protocol, onMessage: async () => {} });
    await expect(enter({ credentials: null })).rejects.toMatchObject({ code: 'login' });
    await expect(enter({ credentials: { username: 'agent', password: 'x' } })).rejects.toMatchObject({ code: 'login' });
    await expect(enter({}, 5)).rejects.toMatchObject({ code: 'protocol' });
  });

  it('denies an agent what is not its business, and goes on for the others', async () => {
    const world = await driven();
    await hearing(openBus(world));
    const address = await agentOf(world);
    const nosy = await voice(address);
    await expect(nosy.link.subscribe(eventsTopic(PREFIX, JOB, 1))).rejects.toMatchObject({ code: 'denied' });
    await expect(nosy.link.subscribe('#')).rejects.toMatchObject({ code: 'denied' });
    const attempts: [string, boolean][] = [
      [stateTopic(PREFIX, JOB), true],
      [receiptsTopic(PREFIX, JOB, 1), false],
      [hostTopic(PREFIX, 'h'), false],
      [eventsTopic(PREFIX, JOB, 1), true],
    ];
    for (const [topic, retain] of attempts) {
      const bad = await voice(address);
      // aedes confirms first and then hangs up; a link that is still there would take another publish.
      await bad.link.publish(topic, '{}', retain).catch(() => {});
      expect(await bad.link.closed).toMatchObject({ code: 'lost' });
    }
    const agent = await ears(world);
    const envelope = await sign(world);
    await agent.say(envelope);
    await until(() => agent.receipts(envelope)[0]);
  });

  it('hangs up on a packet that is too long before it has come, logged in or not', async () => {
    const world = await undriven();
    await up(openBus(world));
    const { port } = await book(world);
    const stranger = createConnection({ port, host: '127.0.0.1' }).on('error', () => {});
    const closed = once(stranger, 'close');
    stranger.write(Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f, 0, 4]));
    await closed;
    const strong = await voice(await driverAddress(world));
    const state = stateTopic(PREFIX, JOB);
    await strong.link.publish(state, 'x'.repeat(200_000), false);
    await strong.link.publish(state, 'x'.repeat(300_000), false).catch(() => {});
    expect(await strong.link.closed).toMatchObject({ code: 'lost' });
  });

  it('leaves nothing behind: processes that have stopped their bus, holder or client, end by themselves', async () => {
    const world = await undriven();
    const holder = busProcess(world.registryDir, { settings: EMBEDDED });
    await until(() => holder.holds());
    const client = busProcess(world.registryDir, { settings: EMBEDDED });
    await until(() => client.hears());
    const agent = await agentOf(world);
    await voice(agent);
    await holder.stop();
    // It takes over, and its first client is a stranger who stays.
    await until(() => voice(agent).catch(() => null));
    await client.stop();
  });
});

describe('presence', () => {
  it('is retained while a driver is connected, and says offline when it goes in peace', async () => {
    const world = await undriven();
    const topic = hostTopic(PREFIX, 'here');
    const holder = openBus(world, { presence: { topic, online: 'on', offline: 'off' } });
    const other = hostTopic(PREFIX, 'there');
    await up(holder);
    const client = openBus(world, { presence: { topic: other, online: 'on', offline: 'off' } });
    await up(client);
    const seen: string[] = [];
    const stop = new AbortController();
    const address = await watcherAddress(EMBEDDED, world.registryDir);
    if (!address) throw new Error('no address');
    const name = ({ topic: t, payload }: { topic: string; payload: string }) => `${t.split('/').at(-1)} ${payload}`;
    const watching = watchTopics(address, PREFIX, ['hosts/+'], (message) => seen.push(name(message)), stop.signal);
    await until(() => seen.includes('here on') && seen.includes('there on'));
    await client.stop();
    await until(() => seen.includes('there off'));
    await holder.stop();
    await until(() => seen.includes('here off'));
    stop.abort();
    await watching;
  });
});

describe('a registry that does not take an envelope', () => {
  it.each([
    ['as holder', false],
    ['as client', true],
  ])('%s: no receipt; the sender repeats it, and it is taken', async (_, asClient) => {
    const world = await driven();
    if (asClient) await up(openBus(world));
    let full = true;
    const registry = new Proxy(world.registry, {
      get(target, name) {
        if (name === 'deliver' && full) return async () => Promise.reject(new Error('the disk is full'));
        const member = Reflect.get(target, name, target) as unknown;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const bus = openBus(world, { registry });
    await hearing(bus);
    const agent = await ears(world);
    const envelope = await sign(world);
    await agent.say(envelope);
    await until(() => bus.warnings.length > 0 || !bus.status().up);
    expect(agent.receipts(envelope)).toEqual([]);
    full = false;
    await untilBus(bus, () => bus.hears(JOB));
    await agent.say(envelope);
    await until(() => agent.receipts(envelope)[0]);
  });
});
