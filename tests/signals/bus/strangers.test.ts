// Whoever has a password, or is the broker, and sends too much of what is worth nothing.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectLink } from '../../../src/signals/bus/client.ts';
import { withoutLogin } from '../../../src/signals/bus/login.ts';
import { createRefusals, type Refusal } from '../../../src/signals/bus/refusals.ts';
import { eventsTopic, receiptsTopic } from '../../../src/signals/bus/topics.ts';
import { driven, JOB, until } from '../world.ts';
import { startMosquitto } from './mosquitto.ts';
import { hearing, logOf, openBus, PREFIX, sign, voice } from './support.ts';

const external = (url: string) =>
  ({ kind: 'external', url, prefix: PREFIX, credentials: null, agent: null, tls: {} }) as const;

describe('packets of a broker that are longer than any of ours', () => {
  it('are not sent to us by one that keeps to MQTT 5, and the events go on', async () => {
    const world = await driven();
    const { url } = await startMosquitto();
    const bus = openBus(world, { settings: external(url) });
    await hearing(bus);
    const agent = await voice(bus.agentAddress()!, receiptsTopic(PREFIX, JOB, 1));
    await agent.link.publish(eventsTopic(PREFIX, JOB, 1), 'x'.repeat(1_000_000), false);
    const envelope = await sign(world);
    await agent.say(envelope);
    await until(() => agent.receipts(envelope)[0]);
    expect(await logOf(world, 'bus')).toEqual([]);
    expect(bus.generation()).toBe(1);
  });

  it.each([4, 5] as const)(
    'end the connection to one that sends them all the same, before they have come (%i)',
    async (protocol) => {
      const connack = Buffer.from(protocol === 5 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]);
      const sockets: Socket[] = [];
      const server = createServer((socket) => {
        sockets.push(socket.on('error', () => {}));
        socket.once('data', () => socket.write(connack));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      const url = `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`;
      const address = { url, credentials: null, tls: {} };
      const link = await connectLink({ address, protocol, onMessage: async () => {} });
      // A PUBLISH of 256 MB, of which next to nothing comes.
      sockets[0]?.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, 0]));
      expect(await link.closed).toMatchObject({ code: 'lost', message: expect.stringContaining('in one packet') });
    },
  );
});

describe('a flood with the agent’s password', () => {
  it.each([
    ['of another attempt', (envelope: object) => JSON.stringify({ ...envelope, attempt: 7 }), 7],
    ['signed by nobody', (envelope: object) => JSON.stringify({ ...envelope, sig: 'f'.repeat(64) }), 1],
    ['that is garbage', (envelope: object) => `${JSON.stringify(envelope)} !`, 1],
  ] as const)(
    '%s leaves a few rows without what it said, counts the rest, and holds up nobody',
    async (_, make, attempt) => {
      const world = await driven();
      const bus = openBus(world);
      await hearing(bus);
      const agent = await voice(bus.agentAddress()!, receiptsTopic(PREFIX, JOB, 1));
      const template = await sign(world, { type: 'progress', detail: 'SECRET'.repeat(600) });
      const flood = Array.from({ length: 300 }, (__, n) => make({ ...template, id: `stranger-${n}` }));
      await Promise.all(flood.map((payload) => agent.link.publish(eventsTopic(PREFIX, JOB, attempt), payload, false)));
      const honest = await sign(world);
      await agent.say(honest);
      await until(() => agent.receipts(honest)[0]?.answer?.verdict === 'take');
      const counted = await until(async () => {
        const rows = (await world.registry.log({ job: JOB })).filter(({ verdict }) => verdict === 'refused');
        const leftOut = rows.map(({ data }) => (data as { leftOut?: number }).leftOut ?? 0).reduce((a, b) => a + b, 0);
        const single = rows.filter(({ data }) => !('leftOut' in (data as object))).length;
        return single + leftOut === 300 ? rows : null;
      });
      expect(counted.length).toBeLessThan(60);
      expect(counted.length).toBeGreaterThan(20);
      expect(JSON.stringify(counted)).not.toContain('SECRET');
      for (const { id } of flood.map((__, n) => ({ id: `stranger-${n}` }))) {
        expect(await world.registry.inboxRow(id)).toBeUndefined();
      }
    },
  );

  it('does not hide the honest agent of an attempt that is over: what it said and of which attempt is in the log', async () => {
    const world = await driven();
    const bus = openBus(world);
    await hearing(bus);
    const agent = await voice(bus.agentAddress()!);
    const late = { ...(await sign(world, { type: 'completed', detail: 'long ago' })), attempt: 3 };
    await agent.say(late);
    const [row] = await until(async () => ((rows) => (rows.length > 0 ? rows : null))(await logOf(world, 'bus')));
    expect(row).toMatchObject({
      verdict: 'refused',
      reason: expect.stringMatching(/^other_attempt: .* 3, .* 1$/),
      data: { attempt: 3, id: late.id, type: 'completed', way: 'bus' },
    });
  });
});

describe('refusals', () => {
  const refusal = (n: number, job = 'j'): Refusal => ({
    job,
    why: `why ${n}`,
    data: { attempt: 1 },
    mark: `${job} ${n}`,
  });

  it('are logged once each, up to a burst for each job; the rest is counted, also when the log fails', async () => {
    const rows: Omit<Refusal, 'mark'>[] = [];
    let broken = false;
    const refusals = createRefusals(async (row) => {
      if (broken) {
        broken = false;
        throw new Error('the disk is full');
      }
      rows.push(row);
    });
    for (let n = 0; n < 5; n++) for (let time = 0; time < 3; time++) await refusals.tell(refusal(n));
    expect(rows).toHaveLength(5);
    for (let n = 5; n < 100; n++) await refusals.tell(refusal(n));
    await refusals.tell(refusal(0, 'k'));
    expect(rows.filter(({ job }) => job === 'k')).toHaveLength(1);
    const single = rows.filter(({ job }) => job === 'j').length;
    expect(single).toBeGreaterThanOrEqual(20);
    expect(single).toBeLessThan(30);
    broken = true;
    const last = await until(() => rows.find(({ data }) => 'leftOut' in data));
    expect(last).toMatchObject({ job: 'j', data: { leftOut: 100 - single }, why: expect.stringContaining('why 99') });
    expect(broken).toBe(false);
    await refusals.tell(refusal(200));
    refusals.stop();
  });

  it('that cannot be logged are thrown, and asked again', async () => {
    let broken = true;
    const rows: unknown[] = [];
    const refusals = createRefusals(async (row) => {
      if (broken) throw new Error('the disk is full');
      rows.push(row);
    });
    await expect(refusals.tell(refusal(1))).rejects.toThrow('disk');
    broken = false;
    await refusals.tell(refusal(1));
    expect(rows).toHaveLength(1);
  });
});

describe('the address of a broker in a message', () => {
  it.each([
    ['mqtt://h:1883', 'mqtt://h:1883'],
    ['mqtt://me:hidden@h:1883', 'mqtt://…@h:1883'],
    ['mqtts://me:hid/den@h', 'mqtts://…@h'],
    ['wss://me:hid@den@h/path', 'wss://…@h/path'],
    ['mqtt://me:@hid/@den/@h', 'mqtt://…@h'],
    ['mqtt+unix://me:hidden@/run/b.sock', 'mqtt+unix://…@/run/b.sock'],
    ['me:hidden@h', '…@h'],
    ['//me:hidden@h', '…@h'],
  ])('%s is shown as %s', (url, shown) => expect(withoutLogin(url)).toBe(shown));

  it.each(['mqtt://me:hid/den@127.0.0.1:1', 'mqtt://me:hid@den@127.0.0.1:1', 'http://me:hid/d@en@h', 'me:hidden@h'])(
    'is without its password also where it is none: %s',
    async (url) => {
      const refused = connectLink({
        address: { url, credentials: null, tls: {} },
        protocol: 5,
        onMessage: async () => {},
      });
      const { name, message } = (await refused.catch((error: Error) => error)) as Error;
      expect(name).toBe('BusError');
      expect(message).toContain(withoutLogin(url));
      expect(message).not.toMatch(/hid|den\b/);
    },
  );
});
