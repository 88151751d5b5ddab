// A broker that cannot be used: what is told, and that nothing hangs.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { Aedes } from 'aedes';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectLink } from '../../../src/signals/bus/client.ts';
import { eventsTopic, receiptsTopic } from '../../../src/signals/bus/topics.ts';
import type { AgentAddress, BusErrorCode } from '../../../src/signals/bus/types.ts';
import { watchTopics } from '../../../src/signals/bus/watch.ts';
import { freePort } from '../../support/ports.ts';
import { tempDirectory, until } from '../world.ts';
import { makeCertificates } from './certificates.ts';
import { startMosquitto } from './mosquitto.ts';
import { openBus, PREFIX, untilBus, up } from './support.ts';

const certificates = makeCertificates();
const { ca } = certificates;

async function serve(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return (server.address() as { port: number }).port;
}

const at = (port: number, over: Partial<AgentAddress> = {}): AgentAddress => ({
  url: `mqtt://127.0.0.1:${port}`,
  credentials: { username: 'me', password: 'my secret' },
  tls: {},
  prefix: PREFIX,
  protocol: 5,
  ...over,
});
const secure = (port: number, tls: AgentAddress['tls'], host = '127.0.0.1') =>
  at(port, { url: `mqtts://${host}:${port}`, tls });

const old = async () => {
  const broker = await Aedes.createBroker();
  onTestFinished(() => new Promise<void>((resolve) => broker.close(resolve)));
  return serve((socket) => broker.handle(socket));
};
const tls = async (server: { cert: string; key: string }, askClient = false) =>
  (await startMosquitto({ tls: { ca, server, askClient } })).port;

/** CONNACK of MQTT 5, and not a byte more. */
const CONNACK = Buffer.from([0x20, 3, 0, 0, 0]);

const cases: [string, BusErrorCode, RegExp, () => Promise<AgentAddress>][] = [
  [
    'that refuses the login',
    'login',
    /refuses the login/,
    async () => at((await startMosquitto({ users: { me: 'another secret' } })).port),
  ],
  ['that speaks 3.1.1 only', 'protocol', /speaks no MQTT 5/, async () => at(await old())],
  ['whose port is dead', 'unreachable', /nothing listens there.*ECONNREFUSED/, async () => at(await freePort())],
  [
    'whose name nobody knows',
    'unreachable',
    /host name/,
    async () => at(1, { url: 'mqtt://no-such-host.invalid:1883' }),
  ],
  [
    'whose socket is not there',
    'unreachable',
    /no such socket/,
    async () => at(1, { url: `mqtt+unix://${await tempDirectory()}/none.sock` }),
  ],
  ['that is a black hole', 'unreachable', /does not answer/, async () => at(await serve(() => {}))],
  ['that hangs up', 'lost', /hangs up/, async () => at(await serve((socket) => socket.destroy()))],
  [
    'that speaks something else',
    'protocol',
    /no MQTT broker/,
    async () => at(await serve((socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))),
  ],
  [
    'that says half a word',
    'protocol',
    /no MQTT broker/,
    async () => at(await serve((socket) => void socket.write(Buffer.from([0x20])))),
  ],
  [
    'that answers HTTP',
    'protocol',
    /no MQTT broker/,
    async () => at(await serve((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))),
  ],
  ['without TLS where TLS is asked', 'protocol', /TLS/, async () => secure((await startMosquitto()).port, { ca })],
  [
    'whose certificate has expired',
    'certificate',
    /expired/,
    async () => secure(await tls(certificates.expired), { ca }),
  ],
  [
    'whose certificate is for another host',
    'certificate',
    /another host name/,
    async () => secure(await tls(certificates.otherName), { ca }),
  ],
  [
    'of an unknown authority',
    'certificate',
    /STEPWARD_MQTT_CA/,
    async () => secure(await tls(certificates.server), {}),
  ],
  [
    'of an authority other than ours',
    'certificate',
    /STEPWARD_MQTT_CA/,
    async () => secure(await tls(certificates.stranger.server), { ca }),
  ],
  [
    'that asks for a client certificate',
    'login',
    /client certificate/,
    async () => secure(await tls(certificates.server, true), { ca }),
  ],
  ['of another kind', 'protocol', /allowed: mqtt, mqtts/, async () => at(1, { url: 'http://127.0.0.1:1' })],
  ['whose URL is none', 'protocol', /Invalid URL/, async () => at(1, { url: 'localhost' })],
  [
    'with an authority file that is not there',
    'certificate',
    /none\.crt cannot be read/,
    async () => secure(1, { ca: '/nowhere/none.crt' }),
  ],
];

describe('a broker', () => {
  it.each(cases)('%s: %s', async (_, code, sentence, make) => {
    const address = await make();
    const refused = connectLink({ address, protocol: 5, onMessage: async () => {} });
    await expect(refused).rejects.toMatchObject({ name: 'BusError', code, message: expect.stringMatching(sentence) });
    const message = await refused.catch((error: Error) => error.message);
    if (!address.tls.ca?.startsWith('/nowhere')) expect(message).toContain(address.url);
    expect(message).not.toContain('secret');
  });

  it('whose URL holds a password is named without it', async () => {
    const address = at(await freePort());
    const url = address.url.replace('//', '//me:hidden@');
    const refused = connectLink({ address: { ...address, url }, protocol: 5, onMessage: async () => {} });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining(address.url.replace('//', '//…@')),
    });
  });

  it('that lets us in and is silent from then on is given up at the first question', async () => {
    const port = await serve((socket) => void socket.once('data', () => socket.write(CONNACK)));
    const link = await connectLink({ address: at(port), protocol: 5, onMessage: async () => {} });
    await expect(link.publish(`${PREFIX}/v1/x`, '', false)).rejects.toMatchObject({ code: 'lost' });
    expect((await link.closed).message).toContain('confirms nothing');
    await link.close();
  });

  it('that sends garbage in the middle ends the connection, not the process', async () => {
    const port = await serve(
      (socket) => void socket.once('data', () => socket.write(Buffer.concat([CONNACK, Buffer.from('garbage')]))),
    );
    const link = await connectLink({ address: at(port), protocol: 5, onMessage: async () => {} });
    expect(await link.closed).toMatchObject({ code: 'lost' });
  });

  it('that denies a publish: an error with its reason, and the connection goes on', async () => {
    const users = { me: 'my secret' };
    const { port } = await startMosquitto({
      users,
      acl: `user me\ntopic read ${PREFIX}/#\ntopic write ${PREFIX}/v1/mine\n`,
    });
    const link = await connectLink({ address: at(port), protocol: 5, onMessage: async () => {} });
    onTestFinished(() => link.close());
    const topic = `${PREFIX}/v1/hosts/h`;
    const denied = link.publish(topic, '', true);
    await expect(denied).rejects.toMatchObject({ code: 'denied', message: expect.stringContaining(topic) });
    await link.publish(`${PREFIX}/v1/mine`, '', false);
  });
});

describe('a broker is reached', () => {
  const use = async (address: AgentAddress) => {
    const link = await connectLink({ address, protocol: 5, onMessage: async () => {} });
    onTestFinished(() => link.close());
    await link.publish(`${PREFIX}/v1/x`, '', false);
  };

  it('by a Unix socket', async () => {
    const { socket } = await startMosquitto({ users: { me: 'my secret' } });
    await use(at(1, { url: `mqtt+unix://${socket}` }));
  });

  it('with name and password in its URL', async () => {
    const { port } = await startMosquitto({ users: { me: 'my secret' } });
    await use(at(port, { url: `mqtt://me:my%20secret@127.0.0.1:${port}`, credentials: null }));
  });
});

describe('a watcher', () => {
  it('is told why the first connection does not come about, and ends quietly when it is stopped meanwhile', async () => {
    const dead = at(await freePort());
    const never = new AbortController().signal;
    const refused = watchTopics(dead, PREFIX, ['jobs/+/state'], () => {}, never);
    await expect(refused).rejects.toMatchObject({ code: 'unreachable' });
    const stop = new AbortController();
    const watching = watchTopics(at(await serve(() => {})), PREFIX, ['jobs/+/state'], () => {}, stop.signal);
    stop.abort();
    await watching;
  });

  it('is told when its broker is lost and when it is back, and what is retained then', async () => {
    const broker = await startMosquitto();
    const address = { url: broker.url, credentials: null, tls: {} };
    const link = await connectLink({ address, protocol: 5, onMessage: async () => {} });
    onTestFinished(() => link.close());
    await link.publish(`${PREFIX}/v1/jobs/j/state`, 'first', true);
    const [stop, seen] = [new AbortController(), [] as string[]];
    const watching = watchTopics(
      address,
      PREFIX,
      ['jobs/+/state'],
      ({ payload }) => seen.push(payload),
      stop.signal,
      ({ up: is }) => seen.push(is ? 'up' : 'down'),
    );
    await until(() => seen.includes('first'));
    await broker.kill();
    await until(() => seen.includes('down'));
    await broker.start();
    await until(() => seen.at(-1) === 'up');
    stop.abort();
    await watching;
  });
});

describe('a bus', () => {
  const nowhere = { registryDir: '/nowhere', registry: {} as never };
  const settings = (address: AgentAddress) => ({ kind: 'external', agent: null, ...address }) as const;

  it('whose broker cannot be used says why, warns once, and stops at once', async () => {
    const port = await freePort();
    const bus = openBus(nowhere, { settings: settings(at(port, { credentials: null })) });
    expect(bus.status()).toEqual({ up: false, why: null });
    await until(() => bus.warnings.length > 0);
    let tries = 0;
    while (tries < 3) {
      await bus.changed(new AbortController().signal);
      tries++;
    }
    expect(bus.status()).toMatchObject({ up: false, why: expect.stringContaining('nothing listens there') });
    expect(bus.warnings).toHaveLength(1);
    await expect(bus.publish('x', '')).rejects.toMatchObject({
      name: 'BusError',
      message: expect.stringContaining(String(port)),
    });
    await bus.stop();
    expect(bus.generation()).toBe(0);
  });

  it('stops while a black hole is being tried', async () => {
    const bus = openBus(nowhere, { settings: settings(at(await serve(() => {}))) });
    await bus.stop();
    await bus.stop();
    expect(bus.status().up).toBe(false);
  });

  it('does not believe a subscription that the broker confirms and does not serve, and finds out when it is mended', async () => {
    const users = { me: 'my secret' };
    const acl = `user me\ntopic write ${PREFIX}/#\n`;
    const broker = await startMosquitto({ users, acl });
    const bus = openBus(nowhere, { settings: settings(at(broker.port)) });
    await up(bus);
    bus.follow('job1', () => {});
    await until(() => bus.warnings.length > 0);
    expect(bus.warnings).toEqual([expect.stringContaining(eventsTopic(PREFIX, 'job1', 0))]);
    expect(bus.hears('job1')).toBe(false);
    await broker.mend(`user me\ntopic readwrite ${PREFIX}/#\n`);
    await untilBus(bus, () => bus.hears('job1'));
    expect(bus.warnings.at(-1)).toBe('the broker sends the events of job job1');
  });

  it.each([
    ['the word that proves what it hears', `topic read ${PREFIX}/#\n`, eventsTopic(PREFIX, 'job1', 0)],
    [
      'receipts',
      `topic read ${PREFIX}/#\ntopic write ${PREFIX}/v1/jobs/+/+/events\n`,
      receiptsTopic(PREFIX, 'job1', 0),
    ],
  ])('that may not publish %s hears no job, says why, and finds out when it is mended', async (_, acl, topic) => {
    const users = { me: 'my secret' };
    const broker = await startMosquitto({ users, acl: `user me\n${acl}` });
    const bus = openBus(nowhere, { settings: settings(at(broker.port)) });
    await up(bus);
    bus.follow('job1', () => {});
    await until(() => bus.warnings.length > 0);
    expect(bus.warnings).toEqual([expect.stringMatching(/does not let us publish .*correct its access rules/)]);
    expect(bus.warnings[0]).toContain(topic);
    expect(bus.hears('job1')).toBe(false);
    await broker.mend(`user me\ntopic readwrite ${PREFIX}/#\n`);
    await untilBus(bus, () => bus.hears('job1'));
  });

  it('is told when it is over', async () => {
    const broker = await startMosquitto();
    await broker.kill();
    const bus = openBus(nowhere, { settings: settings(at(broker.port)) });
    await until(() => bus.warnings.length === 1);
    await broker.start();
    await untilBus(bus, () => bus.status().up);
    await until(() => bus.warnings.length === 2);
    expect(bus.warnings[1]).toBe('the bus is back');
    expect(bus.generation()).toBe(1);
  });
});
