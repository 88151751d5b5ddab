// One connection to a broker as a client, over mqtt.js, which is loaded here and nowhere else. It never reconnects by itself: the
// one who holds the link decides when, and first looks whether the broker is ours to run (bus.ts).
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import { reasonOf } from '../files.ts';
import { createFrames, PACKET_LIMIT } from './frames.ts';
import { ANSWER_MS, CLOSE_MS, CONNECT_MS, type Link, type OnMessage, type Will, within } from './link.ts';
import { withoutLogin } from './login.ts';
import { denied, type Failure, whyEnded, whyNoConnection } from './reasons.ts';
import { type BrokerAddress, BusError } from './types.ts';

export interface ClientOptions {
  address: BrokerAddress;
  /** 4: MQTT 3.1.1, which only the embedded broker is spoken to with; 5. */
  protocol: 4 | 5;
  onMessage: OnMessage;
  will?: Will;
  /** Gives up while connecting. */
  signal?: AbortSignal;
}

/** Seconds. Silence is noticed after one and a half of it: within 10 s. */
const KEEPALIVE_S = 6;

/** Bytes of a WebSocket frame, which may hold several packets. */
const FRAME_LIMIT = 4 * PACKET_LIMIT;

/** Resolves with a connection that stands. Throws BusError, at the latest after CONNECT_MS and a little. */
export async function connectLink(options: ClientOptions): Promise<Link> {
  const { address, protocol, signal } = options;
  const url = withoutLogin(address.url);
  const [{ default: mqtt }, tls] = await Promise.all([import('mqtt'), readTls(address.tls, url)]);
  if (signal?.aborted) throw given(url);
  let client: MqttClient;
  try {
    client = mqtt.connect({ ...placeIn(address.url), ...mqttOptions(options, tls) });
  } catch (error) {
    throw new BusError('protocol', `the broker ${url} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  const ended = endOf(client, url);
  limitPackets(client);
  const give = () => void client.stream.destroy();
  signal?.addEventListener('abort', give, { once: true });
  try {
    await established(client, url, protocol);
  } catch (error) {
    client.stream.destroy();
    await ended;
    throw signal?.aborted ? given(url) : error;
  } finally {
    signal?.removeEventListener('abort', give);
  }
  return linkOver(client, url, ended, options.onMessage);
}

const given = (url: string): BusError => new BusError('lost', `connecting to the broker ${url} was given up`);

function mqttOptions({ address, protocol, will }: ClientOptions, tls: Tls): IClientOptions {
  const { credentials } = address;
  return {
    protocolVersion: protocol,
    clientId: `stepward-${randomBytes(6).toString('hex')}`,
    clean: true,
    reconnectPeriod: 0,
    resubscribe: false,
    connectTimeout: CONNECT_MS,
    keepalive: KEEPALIVE_S,
    // Else every publish into a black hole would put off the ping that finds it out.
    reschedulePings: false,
    // Building its table of numbers costs a one-shot process 20 ms.
    writeCache: false,
    ...(protocol === 5 && { properties: { maximumPacketSize: PACKET_LIMIT } }),
    wsOptions: { maxPayload: FRAME_LIMIT },
    ...(credentials && { username: credentials.username, password: credentials.password }),
    ...(will && { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true } }),
    ...tls,
  };
}

const PROTOCOLS = Object.freeze(['mqtt', 'mqtts', 'mqtt+unix', 'ws', 'wss'] as const);

/** Parsed here: mqtt.js does it with `url.parse`, about which newer Nodes warn on stderr, where an agent's answer belongs. */
function placeIn(url: string): IClientOptions {
  const { protocol: scheme, hostname, port, pathname, search, username, password } = new URL(url);
  const protocol = PROTOCOLS.find((name) => `${name}:` === scheme);
  if (!protocol) throw new Error(`${scheme} is no protocol of a broker; allowed: ${PROTOCOLS.join(', ')}`);
  return {
    protocol,
    // An IPv6 address without its brackets.
    ...(hostname !== '' && { host: hostname.replace(/^\[(.*)\]$/, '$1') }),
    ...(port !== '' && { port: Number(port) }),
    path: protocol === 'mqtt+unix' ? decodeURIComponent(pathname) : pathname + search,
    ...(username !== '' && { username: decodeURIComponent(username), password: decodeURIComponent(password) }),
  };
}

type Tls = Partial<Record<'ca' | 'cert' | 'key', Buffer>>;

async function readTls(files: BrokerAddress['tls'], url: string): Promise<Tls> {
  const read = async ([name, file]: [string, string]) => {
    const content = await readFile(file).catch((error: unknown) => {
      const code = name === 'ca' ? 'certificate' : 'login';
      throw new BusError(code, `the broker ${url} cannot be used: ${file} cannot be read (${reasonOf(error)})`);
    });
    return [name, content] as const;
  };
  return Object.fromEntries(await Promise.all(Object.entries(files).map(read)));
}

interface Ended {
  failure: Failure | null;
  /** Of a DISCONNECT packet. */
  reason: string | null;
}

/** Collects what is said until the connection is closed. mqtt.js tells some failures twice, and an `error` nobody hears would end
 *  the process. */
function endOf(client: MqttClient, url: string): Promise<BusError> {
  const seen: Ended = { failure: null, reason: null };
  client.on('error', (error: Failure) => {
    seen.failure ??= { code: error.code, message: error.message };
    // After a packet that is none, mqtt.js would go on reading.
    client.stream.destroy();
  });
  client.on('disconnect', ({ reasonCode, properties }) => {
    seen.reason = properties?.reasonString ?? `the broker ended it (reason ${reasonCode ?? 0})`;
  });
  return new Promise((resolve) => {
    client.once('close', () => resolve(whyEnded(url, seen.failure, seen.reason)));
  });
}

/** What a broker does not know of `maximumPacketSize`, or knows and ignores: mqtt.js would keep 256 MB for one packet. */
function limitPackets(client: MqttClient): void {
  const fits = createFrames();
  client.stream.on('data', (chunk: Buffer) => {
    if (!fits(chunk)) client.emit('error', new Error(`it sends more than ${PACKET_LIMIT} bytes in one packet`));
  });
}

/** Until the broker lets us in. */
async function established(client: MqttClient, url: string, protocol: 4 | 5): Promise<void> {
  const { stream } = client;
  let secured = false;
  let failure: Failure | null = null;
  let heard = false;
  const listen = () => {
    heard = true;
  };
  stream.on('data', listen);
  stream.once('secureConnect', () => {
    secured = true;
  });
  if ('setNoDelay' in stream && typeof stream.setNoDelay === 'function') stream.setNoDelay(true);
  client.once('error', (error: Failure) => {
    failure = error;
  });
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => {
      stream.off('data', listen);
      resolve();
    });
    client.once('close', () => {
      const stage = { url, protocol, heard, secured };
      reject(whyNoConnection(failure ? named(failure) : { message: 'closed' }, stage));
    });
  });
}

/** mqtt.js tells what it found itself only in words. */
function named({ code, message }: Failure): Failure {
  if (code !== undefined) return { code, message };
  return { code: message === 'connack timeout' ? 'timeout' : 'garbage', message };
}

function linkOver(client: MqttClient, url: string, ended: Promise<BusError>, onMessage: OnMessage): Link {
  const silent = () => {
    const error = new Error('it confirms nothing any more');
    client.emit('error', error);
    return whyEnded(url, error, null);
  };
  /** Who waits for a confirmation. mqtt.js keeps what was not confirmed for a reconnection that never comes: the end of the
   *  connection ends it. (A `race` with `ended` would keep every message for as long as the connection stands.) */
  const pending = new Set<(error: BusError) => void>();
  let over: BusError | null = null;
  ended.then((error) => {
    over = error;
    for (const reject of pending) reject(error);
  });
  async function answered(promise: Promise<unknown>): Promise<void> {
    let reject: (error: BusError) => void = () => {};
    const end = new Promise<never>((_, no) => {
      reject = no;
    });
    if (over) reject(over);
    pending.add(reject);
    try {
      await within(ANSWER_MS, Promise.race([promise, end]), silent);
    } finally {
      pending.delete(reject);
    }
  }

  client.handleMessage = ({ topic, payload, retain }: IPublishPacket, done) => {
    onMessage({ topic, payload: payload.toString(), retain }).then(
      () => done(),
      (error: unknown) => {
        // Not acknowledged. A broker stops sending when enough lies unacknowledged, so a new connection must clear that.
        client.emit('error', new Error(`a message could not be taken (${reasonOf(error)})`));
        done();
      },
    );
  };
  let closing: Promise<void> | null = null;
  const farewell = async () => {
    client.end();
    const late = () => new Error('no farewell');
    await within(CLOSE_MS, ended, late).catch(() => client.stream.destroy());
    await ended;
  };
  return {
    closed: ended,
    async subscribe(filter) {
      await answered(client.subscribeAsync(filter, { qos: 1 })).catch(explain('subscribe to', filter));
    },
    async unsubscribe(filter) {
      await answered(client.unsubscribeAsync(filter)).catch(explain('unsubscribe from', filter));
    },
    async publish(topic, payload, retain) {
      await answered(client.publishAsync(topic, payload, { qos: 1, retain })).catch(explain('publish', topic));
    },
    close() {
      closing ??= farewell();
      return closing;
    },
  };

  function explain(what: string, topic: string) {
    return async (error: unknown): Promise<never> => {
      if (error instanceof BusError) throw error;
      const failure = error as Failure & { packet?: unknown };
      // A reason code, or a SUBACK that refuses; anything else is the end of the connection in mqtt.js's words.
      if (typeof failure.code === 'number' || failure.packet !== undefined) throw denied(url, what, topic, failure);
      client.stream.destroy();
      throw await ended;
    };
  }
}
