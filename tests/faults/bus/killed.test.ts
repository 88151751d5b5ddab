// Brokers and drivers that are killed: nothing is lost, nothing is doubled, and whoever is left goes on.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/kernel/ports.ts';
import { writeBusAddress } from '../../../src/signals/attempt.ts';
import { addressIn, readBook } from '../../../src/signals/bus/book.ts';
import { speak } from '../../../src/signals/bus/speak.ts';
import { hostTopic } from '../../../src/signals/bus/topics.ts';
import type { AgentAddress } from '../../../src/signals/bus/types.ts';
import { startMosquitto } from '../../signals/bus/mosquitto.ts';
import { allHear, type BusProcess, busProcess } from '../../signals/bus/processes.ts';
import { driverAddress, EMBEDDED, hearing, openBus, PREFIX, sign, voice } from '../../signals/bus/support.ts';
import { driven, JOB, until, type World } from '../../signals/world.ts';

/** An agent with no way but the bus, one event after the other, each until it is heard. */
async function speakAll(world: World, address: AgentAddress, count: number, meanwhile: (n: number) => Promise<void>) {
  await writeBusAddress(world.paths, address);
  const key = await world.key();
  const said: Envelope[] = [];
  for (let n = 0; n < count; n++) {
    const envelope = await sign(world);
    const [spoken] = await Promise.all([
      speak({ envelope, key, paths: world.paths, until: performance.now() + 30_000 }),
      meanwhile(n),
    ]);
    expect(spoken).toMatchObject({ heard: true, answer: { verdict: 'take' } });
    said.push(envelope);
  }
  return said;
}

async function expectEachOnce(world: World, said: Envelope[]): Promise<void> {
  const log = (await world.registry.log({ job: JOB })).filter(
    ({ from, verdict }) => from === 'agent' && verdict === 'take',
  );
  expect(log.map(({ data }) => (data as { id: string }).id)).toEqual(said.map(({ id }) => id));
}

describe('the driver that holds the embedded broker, killed', () => {
  const holderOf = (all: BusProcess[]) => all.filter((one) => one.holds());

  it('once after the other, of five that start at once: exactly one holds it, on the same port, and all hear', async () => {
    const world = await driven();
    let all = Array.from({ length: 5 }, () => busProcess(world.registryDir, { settings: EMBEDDED }));
    await allHear(all);
    expect(holderOf(all)).toHaveLength(1);
    const before = await readBook(world.registryDir);
    while (all.length > 1) {
      const [holder] = holderOf(all);
      const others = all.filter((one) => one !== holder);
      // The instant of death: nobody may have thought that it holds it already.
      expect(holderOf(others)).toEqual([]);
      await holder?.kill();
      all = others;
      await until(() => holderOf(all).length > 0);
      await allHear(all);
      expect(holderOf(all)).toHaveLength(1);
      expect(await readBook(world.registryDir)).toEqual(before);
    }
  });

  it('in the middle of a bus-only agent’s events: none is lost, none doubled', async () => {
    const world = await driven();
    const holder = busProcess(world.registryDir, { settings: EMBEDDED });
    await until(() => holder.holds());
    await allHear([holder]);
    const bus = openBus(world);
    await hearing(bus);
    const book = await until(() => readBook(world.registryDir));
    const said = await speakAll(world, addressIn(book, 'agent'), 12, async (n) => {
      if (n === 4) await holder.kill();
    });
    await expectEachOnce(world, said);
    expect(bus.warnings).toEqual([]);
  });

  it('with an agent that lives on: its own connection is lost, and the next one is to the successor', async () => {
    const world = await driven();
    const all = [0, 1].map(() => busProcess(world.registryDir, { settings: EMBEDDED }));
    await allHear(all);
    const agent = addressIn(await until(() => readBook(world.registryDir)), 'agent');
    const first = await voice(agent);
    await holderOf(all)[0]?.kill();
    expect(await first.link.closed).toMatchObject({ code: 'lost' });
    const said = await speakAll(world, agent, 1, async () => {});
    await expectEachOnce(world, said);
  });
});

describe.each([
  ['with persistence', true],
  ['without persistence', false],
])('Mosquitto %s, killed and restarted again and again', (_, persistence) => {
  it('in the middle of a bus-only agent’s events: none is lost, none doubled', async () => {
    const world = await driven();
    const broker = await startMosquitto({ persistence });
    const settings = {
      kind: 'external',
      prefix: PREFIX,
      url: broker.url,
      credentials: null,
      agent: null,
      tls: {},
    } as const;
    const bus = openBus(world, { settings });
    await hearing(bus);
    const address = { url: broker.url, credentials: null, tls: {}, prefix: PREFIX, protocol: 5 } as const;
    const said = await speakAll(world, address, 15, async (n) => {
      if (n % 4 !== 2) return;
      // At another moment of the exchange each time.
      await sleep(n);
      await broker.kill();
      await sleep(150);
      await broker.start();
    });
    await expectEachOnce(world, said);
    expect(bus.generation()).toBeGreaterThan(1);
  });
});

describe('a driver that is killed', () => {
  it.each(['Mosquitto', 'the embedded broker'])('is told by its last will, by %s', async (by) => {
    const world = await driven();
    const topic = hostTopic(PREFIX, 'mortal');
    const presence = { topic, online: 'on', offline: 'off' };
    let address: AgentAddress;
    let child: BusProcess;
    if (by === 'Mosquitto') {
      const { url } = await startMosquitto();
      const broker = { url, credentials: null, tls: {}, prefix: PREFIX };
      address = { ...broker, protocol: 5 };
      child = busProcess(world.registryDir, { settings: { kind: 'external', agent: null, ...broker }, presence });
    } else {
      await hearing(openBus(world));
      address = await driverAddress(world);
      child = busProcess(world.registryDir, { settings: EMBEDDED, presence });
    }
    await allHear([child]);
    const watcher = await voice(address, hostTopic(PREFIX, '+'));
    await until(() => watcher.heard.find(({ payload }) => payload === 'on'));
    await child.kill();
    await until(() => watcher.heard.find(({ payload }) => payload === 'off'));
    const late = await voice(address, hostTopic(PREFIX, '+'));
    expect(await until(() => late.heard[0])).toMatchObject({ topic, payload: 'off', retain: true });
  });
});
