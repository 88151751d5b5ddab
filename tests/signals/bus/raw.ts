// A client that does what no MQTT library would do: it is bytes on a socket, and reads only when it is told to.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AgentAddress } from '../../../src/signals/bus/types.ts';
import { until } from '../world.ts';

function packet(type: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  for (let left = body.length; ; ) {
    const rest = left >> 7;
    length.push((left & 0x7f) | (rest > 0 ? 0x80 : 0));
    left = rest;
    if (left === 0) break;
  }
  return Buffer.concat([Buffer.from([type, ...length]), body]);
}

const number = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const text = (value: string): Buffer => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);

export const subscribe = (id: number, topic: string): Buffer => packet(0x82, number(id), text(topic), Buffer.from([1]));
/** QoS 1. */
export const publish = (id: number, topic: string, payload: string): Buffer =>
  packet(0x32, text(topic), number(id), Buffer.from(payload));
export const disconnect = packet(0xe0);

export interface Raw {
  socket: Socket;
  /** Byte of CONNACK: the broker had a session of this client. */
  hadSession: boolean;
}

/** Logged in, and deaf from then on: `socket.resume()` reads again. */
export async function rawClient(
  { url, credentials }: AgentAddress,
  { id = 'raw', clean = true, keepalive = 0 } = {},
): Promise<Raw> {
  const { port, hostname } = new URL(url);
  const socket = createConnection({ port: Number(port), host: hostname }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const { username = '', password = '' } = credentials ?? {};
  const flags = Buffer.from([4, 0xc0 | (clean ? 2 : 0)]);
  socket.write(packet(0x10, text('MQTT'), flags, number(keepalive), text(id), text(username), text(password)));
  await once(socket, 'readable');
  const answer = await until(() => socket.read(4) as Buffer | null);
  if (answer[0] !== 0x20 || answer[3] !== 0) throw new Error(`not let in: ${answer.toString('hex')}`);
  return { socket, hadSession: answer[2] === 1 };
}
