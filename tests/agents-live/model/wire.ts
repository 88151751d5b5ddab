// What the three protocols have in common.
import type { ServerResponse } from 'node:http';
import type { Answer, Conversation } from './script.ts';

export type Json = Record<string, unknown>;

/** One protocol: how a request is read and how an answer is written. */
export interface Wire {
  name: 'anthropic' | 'responses' | 'chat';
  path: RegExp;
  read(body: Json): Conversation;
  error(status: number): Json;
  whole(body: Json, answer: Answer): Json;
  /** The events of a stream, each with its pause afterwards, ms. */
  stream(body: Json, answer: Answer): Iterable<{ event?: string; data: Json | '[DONE]'; pause?: number }>;
}

let last = 0;
export const id = (prefix: string): string => `${prefix}${String(++last).padStart(24, '0')}`;

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

export const words = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];

/** The texts of a message, whichever way its content is written down. */
export function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return list(content)
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string');
}

export async function send(
  response: ServerResponse,
  wire: Wire,
  body: Json,
  answer: Answer,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  if (body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.whole(body, answer)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  let sent = 0;
  for (const { event, data, pause } of wire.stream(body, answer)) {
    if (response.destroyed) return;
    if (answer.cut && ++sent > 8) return void response.destroy();
    response.write(`${event ? `event: ${event}\n` : ''}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`);
    if (pause) await sleep(pause);
  }
  response.end();
}
