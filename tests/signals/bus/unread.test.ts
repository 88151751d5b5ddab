// Clients that do not read, or say more than anybody can hear: the others go on.
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { Aedes } from 'aedes';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { createInside } from '../../../src/signals/bus/inside.ts';
import { createPassage } from '../../../src/signals/bus/passage.ts';
import { createRules } from '../../../src/signals/bus/rules.ts';
import { eventsTopic, receiptsTopic, stateTopic } from '../../../src/signals/bus/topics.ts';
import { hangUpOnUnread } from '../../../src/signals/bus/unread.ts';
import type { User } from '../../../src/signals/bus/users.ts';
import { driven, JOB, undriven, until, type World } from '../world.ts';
import { disconnect, publish, rawClient, subscribe } from './raw.ts';
import { driverAddress, hearing, openBus, PREFIX, sign, up, voice } from './support.ts';

const addressOf = async ({ registryDir }: World, user: User) =>
  addressIn(await until(() => readBook(registryDir)), user);

/** Both ends of a connection, the near one wrapped. */
async function pair(ms: number, limit: number): Promise<{ near: Socket; far: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const far = createConnection({ port: (server.address() as { port: number }).port, host: '127.0.0.1' });
  far.on('error', () => {});
  const [near] = (await once(server, 'connection')) as [Socket];
  near.on('error', () => {});
  onTestFinished(() => {
    far.destroy();
    near.destroy();
    server.close();
  });
  hangUpOnUnread(near, ms, limit);
  return { near, far };
}
const MB = 1024 * 1024;

describe('a socket', () => {
  it('nobody reads from is closed, and holds up no writer meanwhile', async () => {
    const { near } = await pair(50, 1000 * MB);
    const closed = once(near, 'close');
    const went = Array.from({ length: 32 }, () => near.write(Buffer.alloc(MB)));
    expect(went).not.toContain(false);
    await closed;
  });

  it('where too much is waiting is closed at once', async () => {
    const { near } = await pair(1_000_000, 2 * MB);
    for (let n = 0; n < 32 && !near.destroyed; n++) near.write(Buffer.alloc(MB));
    expect(near.destroyed).toBe(true);
  });

  it('that is read, late and slowly, is not', async () => {
    const { near, far } = await pair(5000, 1000 * MB);
    let read = 0;
    for (let n = 0; n < 32; n++) near.write(Buffer.alloc(MB));
    far.on('data', (chunk: Buffer) => {
      read += chunk.length;
      far.pause();
      setImmediate(() => far.resume());
    });
    await until(() => read === 32 * MB);
    expect(near.destroyed).toBe(false);
  });
});

describe('the embedded broker', () => {
  it.each([
    ['watcher', 'jobs/+/state', stateTopic(PREFIX, JOB)],
    ['agent', `jobs/${JOB}/+/receipts`, receiptsTopic(PREFIX, JOB, 1)],
  ] as const)(
    'goes on for all others while a client with the %s’s password reads nothing',
    async (user, filter, topic) => {
      const world = await driven();
      const bus = openBus(world);
      await hearing(bus);
      const deaf = await rawClient(await addressOf(world, user));
      for (let id = 1; id < 400; id++) deaf.socket.write(subscribe(id, `${PREFIX}/v1/${filter}`));
      const good = await voice(await addressOf(world, user), `${PREFIX}/v1/${filter}`);
      // Twice the hundred places that aedes has, and more than all buffers between here and there.
      const long = 'x'.repeat(100_000);
      for (let n = 0; n < 200; n++) await bus.publish(topic, `${n} ${long}`);
      await until(() => good.heard.some(({ payload }) => payload.startsWith('199 ')));
      const agent = await voice(await addressOf(world, 'agent'), receiptsTopic(PREFIX, JOB, 1));
      const envelope = await sign(world);
      await agent.say(envelope);
      await until(() => agent.receipts(envelope)[0]);
      expect(bus.generation()).toBe(1);
      // It had its five seconds, or too much lay there; what it reads now is what was under way, and the end.
      await until(() => {
        deaf.socket.write(Buffer.from([0xc0, 0]));
        return deaf.socket.destroyed || deaf.socket.writableEnded || deaf.socket.errored;
      });
    },
  );

  it('tells states while the registry takes nothing and an agent says more than anybody hears', async () => {
    const world = await driven();
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const registry = new Proxy(world.registry, {
      get(target, name) {
        if (name === 'load') return async (job: string) => gate.then(() => target.load(job));
        const member = Reflect.get(target, name, target) as unknown;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const bus = openBus(world, { registry });
    await hearing(bus);
    const flood = await rawClient(await addressOf(world, 'agent'));
    const agent = await voice(await addressOf(world, 'agent'), receiptsTopic(PREFIX, JOB, 1));
    const [envelope, other] = [await sign(world), JSON.stringify({ ...(await sign(world)), attempt: 9 })];
    let acknowledged = 0;
    flood.socket.on('data', (chunk: Buffer) => {
      acknowledged += chunk.length / 4;
    });
    for (let n = 1; n < 1000; n++) flood.socket.write(publish(n, eventsTopic(PREFIX, JOB, 9), other));
    // As many as may wait in the driver.
    await until(() => acknowledged > 200);
    const watcher = await voice(await addressOf(world, 'watcher'), stateTopic(PREFIX, JOB));
    let taken = false;
    const said = agent.say(envelope).then(() => {
      taken = true;
    });
    await bus.publish(stateTopic(PREFIX, JOB), 'still told');
    await until(() => watcher.heard[0]);
    expect(taken).toBe(false);
    expect(acknowledged).toBeLessThan(999);
    go();
    await said;
    await until(() => agent.receipts(envelope)[0]);
  });

  it('keeps no session, no endless keepalive, no thousand subscriptions for anybody', async () => {
    const world = await undriven();
    const bus = openBus(world);
    await up(bus);
    const address = await addressOf(world, 'watcher');
    const enter = () => rawClient(address, { id: 'again', clean: false, keepalive: 60 });
    const first = await enter();
    first.socket.write(Buffer.concat([subscribe(1, stateTopic(PREFIX, JOB)), disconnect]));
    first.socket.resume();
    await once(first.socket, 'close');
    expect((await enter()).hadSession).toBe(false);

    const rules = createRules({
      prefix: PREFIX,
      passwords: { driver: '', agent: '', watcher: '' },
      passage: createPassage(() => false),
      onDriver: () => {},
    });
    const shortened = [0, 6, 65_535].map((keepalive) => {
      const packet = { keepalive, clean: false } as Parameters<typeof rules.preConnect>[1];
      rules.preConnect({} as never, packet, () => {});
      return packet.keepalive;
    });
    expect(shortened).toEqual([300, 6, 300]);

    const greedy = await voice(address);
    for (let n = 0; n < 100; n++) await greedy.link.subscribe(stateTopic(PREFIX, `j${n}`));
    await expect(greedy.link.subscribe(stateTopic(PREFIX, 'more'))).rejects.toMatchObject({ code: 'denied' });
    const driver = await voice(await driverAddress(world));
    for (let n = 0; n < 101; n++) await driver.link.subscribe(stateTopic(PREFIX, `j${n}`));
  });

  it('that takes nothing any more is given up', async () => {
    const aedes = await Aedes.createBroker();
    onTestFinished(() => new Promise<void>((resolve) => aedes.close(resolve)));
    const { link, attach } = createInside(
      async () => {},
      () => {},
      async () => {},
    );
    attach(aedes);
    await link.publish('a/b', '', false);
    // Somebody who is never done with it.
    await new Promise<void>((resolve) => aedes.subscribe('a/b', () => {}, resolve));
    await expect(link.publish('a/b', '', false)).rejects.toMatchObject({ name: 'BusError', code: 'lost' });
    expect(await link.closed).toMatchObject({ code: 'lost' });
  });

  it.each(['its holder', 'another driver'])(
    'proves to %s that it sends the events, and takes receipts',
    async (who) => {
      const world = await undriven();
      const holder = openBus(world);
      await up(holder);
      const [events, receipts] = [eventsTopic(PREFIX, JOB, 0), receiptsTopic(PREFIX, JOB, 0)];
      const listener = await voice(await driverAddress(world), events, receipts);
      await hearing(who === 'its holder' ? holder : openBus(world));
      await until(() => [events, receipts].every((topic) => listener.heard.some((one) => one.topic === topic)));
    },
  );
});

describe('the passage', () => {
  it('lets through in order, at once while nobody is busy, later when nobody is any more, and never when closed', async () => {
    let busy = false;
    const gone: number[] = [];
    const passage = createPassage(() => busy || gone.length === 250);
    const enter = (n: number) => passage.enter(() => void gone.push(n));
    enter(0);
    expect(gone).toEqual([0]);
    busy = true;
    for (let n = 1; n < 300; n++) enter(n);
    expect(gone).toEqual([0]);
    busy = false;
    // Still behind those who wait.
    enter(300);
    await until(() => gone.length === 250);
    expect(gone).toEqual(Array.from({ length: 250 }, (_, n) => n));
    passage.close();
  });
});
