// The bus against its peers in the same run: our connection against raw mqtt.js, `emit` by the bus against mosquitto_pub.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt from 'mqtt';
import { connectLink } from '../src/signals/bus/client.ts';
import type { BrokerAddress } from '../src/signals/bus/types.ts';
import { freePort, listens } from '../tests/support/ports.ts';
import { type Finding, ms, percentile, times } from './stats.ts';
import { humanJob, stepwardFile } from './workplace.ts';

const PUBLISHES = 50;
const ROUNDS = 7;
const EMITS = 30;
const TOPIC = 'stepward/v1/jobs/bench/1/events';
const PAYLOAD = 'x'.repeat(450);

interface Broker {
  name: string;
  address: BrokerAddress;
  protocol: 4 | 5;
}

export async function measureBus(): Promise<Finding[]> {
  const mosquitto = await startMosquitto();
  const job = await humanJob({ STEPWARD_MQTT_URL: '' });
  try {
    const embedded = await embeddedBroker(job.cwd);
    const brokers: Broker[] = [
      embedded,
      { name: 'Mosquitto', address: { url: mosquitto.url, credentials: null, tls: {} }, protocol: 5 },
    ];
    const findings: Finding[] = [];
    for (const broker of brokers) findings.push(...(await publishes(broker)));
    return [...findings, ...(await emits(mosquitto.url))];
  } finally {
    await job.end();
    await mosquitto.end();
  }
}

async function publishes(broker: Broker): Promise<Finding[]> {
  const samples = { ours: [] as number[], raw: [] as number[], oursOnce: [] as number[], rawOnce: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    samples.ours.push(await timed(() => oursPersistent(broker)));
    samples.raw.push(await timed(() => rawPersistent(broker)));
    samples.oursOnce.push(await timed(() => oursOneShot(broker)));
    samples.rawOnce.push(await timed(() => rawOneShot(broker)));
  }
  const [ours, raw, oursOnce, rawOnce] = Object.values(samples).map((values) => percentile(values, 50)) as [
    number,
    number,
    number,
    number,
  ];
  const what = (kind: string) => `${PUBLISHES} confirmed publishes, ${kind}, on ${broker.name}`;
  const peer = (value: number) => `raw mqtt.js, QoS 1: ${ms(value)}`;
  return [
    { what: what('one connection'), ours: ms(ours), peer: peer(raw), ratio: times(ours / raw), aim: '≤ 1.2 ×' },
    {
      what: what('one connection each'),
      ours: ms(oursOnce),
      peer: peer(rawOnce),
      ratio: times(oursOnce / rawOnce),
      aim: '–',
    },
    {
      what: `The same, one connection each against one connection`,
      ours: `${times(oursOnce / ours)}`,
      peer: `raw mqtt.js ${times(rawOnce / raw)}; the original, over a network, 6.9 ×`,
      ratio: '–',
      aim: '–',
    },
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const open = ({ address, protocol }: Broker) => connectLink({ address, protocol, onMessage: async () => {} });

async function oursPersistent(broker: Broker): Promise<void> {
  const link = await open(broker);
  for (let i = 0; i < PUBLISHES; i++) await link.publish(TOPIC, PAYLOAD, false);
  await link.close();
}

async function oursOneShot(broker: Broker): Promise<void> {
  for (let i = 0; i < PUBLISHES; i++) {
    const link = await open(broker);
    await link.publish(TOPIC, PAYLOAD, false);
    await link.close();
  }
}

const rawClient = ({ address, protocol }: Broker) =>
  mqtt.connectAsync(address.url, {
    protocolVersion: protocol,
    writeCache: false,
    reconnectPeriod: 0,
    ...(address.credentials ?? {}),
  });

async function rawPersistent(broker: Broker): Promise<void> {
  const client = await rawClient(broker);
  for (let i = 0; i < PUBLISHES; i++) await client.publishAsync(TOPIC, PAYLOAD, { qos: 1 });
  await client.endAsync();
}

async function rawOneShot(broker: Broker): Promise<void> {
  for (let i = 0; i < PUBLISHES; i++) {
    const client = await rawClient(broker);
    await client.publishAsync(TOPIC, PAYLOAD, { qos: 1 });
    await client.endAsync();
  }
}

/** A job whose agent has only the bus, and the C client beside it. */
async function emits(url: string): Promise<Finding[]> {
  const job = await humanJob({ STEPWARD_MQTT_URL: url }, { ways: ['bus'] });
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const port = new URL(url).port;
  const emit: number[] = [];
  const pub: number[] = [];
  try {
    for (let run = 0; run < EMITS + 3; run++) {
      const words = [stepwardFile, 'emit', 'progress', '--job', job.id, '--attempt', '1'];
      const ours = await timed(async () => void execFileSync(process.execPath, words, { cwd: job.cwd, env }));
      const args = ['-h', '127.0.0.1', '-p', port, '-q', '1', '-t', TOPIC, '-m', PAYLOAD];
      const peer = await timed(async () => void spawnSync('mosquitto_pub', args));
      if (run < 3) continue;
      emit.push(ours);
      pub.push(peer);
    }
  } finally {
    await job.end();
  }
  const [ours, peer] = [percentile(emit, 50), percentile(pub, 50)];
  return [
    {
      what: '`stepward emit` by the bus alone, to the signed receipt, whole process, p50',
      ours: ms(ours),
      peer: `mosquitto_pub -q 1 (C, no receipt) ${ms(peer)}`,
      ratio: times(ours / peer),
      aim: '–',
    },
  ];
}

async function embeddedBroker(cwd: string): Promise<Broker> {
  const book = JSON.parse(readFileSync(join(cwd, '.stepward', 'bus.json'), 'utf8')) as {
    port: number;
    users: { driver: string };
  };
  const credentials = { username: 'driver', password: book.users.driver };
  const address = { url: `mqtt://127.0.0.1:${book.port}`, credentials, tls: {} };
  return { name: 'the embedded broker', address, protocol: 4 };
}

async function startMosquitto(): Promise<{ url: string; end(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-bench-'));
  const port = await freePort();
  const config = join(dir, 'mosquitto.conf');
  const user = process.getuid?.() === 0 ? 'user root\n' : '';
  writeFileSync(config, `listener ${port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n${user}`);
  const child: ChildProcess = spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
  child.once('error', (error) => {
    throw new Error(`the bench needs Mosquitto (apt-get install mosquitto mosquitto-clients): ${error.message}`);
  });
  while (!(await listens(port))) await sleep(20);
  return {
    url: `mqtt://127.0.0.1:${port}`,
    async end() {
      child.kill();
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
