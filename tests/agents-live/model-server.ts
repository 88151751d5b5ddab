// A model that does what the prompt says, on loopback. What it records of every prompt is the receipt of an injection: nothing nearer to
// the truth exists than what the agent itself sent to its model.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './model/anthropic.ts';
import { chat } from './model/chat.ts';
import { responses } from './model/responses.ts';
import { answerTo } from './model/script.ts';
import { type Json, send, type Wire } from './model/wire.ts';

export interface Received {
  /** The first part of the request's path: each agent is given another one. */
  who: string;
  wire: Wire['name'];
  /** Which prompt of its conversation. */
  ordinal: number;
  step: number;
  text: string;
  length: number;
  sha256: string;
}

export interface ModelServer {
  /** The base for one agent, without `/v1`. */
  url(who: string): string;
  /** Every request with tools: retries and steps repeat their prompt. */
  requests(who: string): Received[];
  /** Every prompt once, in order: a prompt submitted twice is there twice. */
  prompts(who: string): Received[];
  /** Requests with tools that are being answered: while there is one, a turn runs. */
  busy(who: string): number;
  /** Lets answers that wait at this gate go on, now and later. */
  open(gate: string): void;
  close(): Promise<void>;
}

const WIRES = [anthropic, responses, chat];

export async function startModelServer(): Promise<ModelServer> {
  const received: Received[] = [];
  const answering = new Map<string, number>();
  const gates = new Map<string, { open: Promise<void>; release: () => void }>();
  const gateOf = (name: string) => {
    const known = gates.get(name);
    if (known) return known;
    let release = () => {};
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    gates.set(name, { open, release });
    return { open, release };
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const body = await readBody(request);
    const wire = WIRES.find((known) => request.method === 'POST' && known.path.test(path));
    if (!wire) return reply(response, 200, path.endsWith('/models') ? MODELS : {});
    const conversation = wire.read(body);
    const scripted = answerTo(conversation);
    if (conversation.tools.length > 0) {
      const { prompt: text, prompts: ordinal, step } = conversation;
      const sha256 = createHash('sha256').update(text).digest('hex');
      const who = path.split('/')[1] ?? '';
      answering.set(who, (answering.get(who) ?? 0) + 1);
      response.once('close', () => answering.set(who, (answering.get(who) ?? 1) - 1));
      received.push({
        who,
        wire: wire.name,
        ordinal,
        step,
        text,
        length: text.length,
        sha256,
      });
    }
    if (scripted.status) return reply(response, scripted.status, wire.error(scripted.status));
    if (scripted.gate) {
      const gone = new Promise<void>((resolve) => response.once('close', () => resolve()));
      await Promise.race([gateOf(scripted.gate).open, gone]);
      if (response.destroyed) return;
    }
    await send(response, wire, body, scripted, sleep);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) reply(response, 500, { error: { message: String(error) } });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const requests = (who: string) => received.filter((one) => one.who === who);
  return {
    url: (who) => `http://127.0.0.1:${port}/${who}`,
    requests,
    prompts: (who) =>
      requests(who).filter(
        ({ ordinal, text }, i, all) => all.findIndex((one) => one.ordinal === ordinal && one.text === text) === i,
      ),
    busy: (who) => answering.get(who) ?? 0,
    open: (gate) => gateOf(gate).release(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const MODELS = { object: 'list', data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'local' }] };

function reply(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString()) as Json;
  } catch {
    return {};
  }
}
