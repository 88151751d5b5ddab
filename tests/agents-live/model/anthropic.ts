// Anthropic's messages.
import type { Conversation } from './script.ts';
import { id, type Json, list, textsOf, type Wire, words } from './wire.ts';

const isOwn = (text: string): boolean =>
  text.trim() !== '' && !text.startsWith('<system-reminder>') && !text.startsWith('[Request interrupted');

function read(body: Json): Conversation {
  const messages = list(body.messages);
  const prompts = messages.map((message) =>
    message.role === 'user' ? textsOf(message.content).filter(isOwn).join('\n') : '',
  );
  const latest = prompts.findLastIndex((text) => text !== '');
  const isCall = (message: Json) => list(message.content).some(({ type }) => type === 'tool_use');
  return {
    prompt: prompts[latest] ?? '',
    prompts: prompts.filter((text) => text !== '').length,
    step: messages.slice(latest + 1).filter((message) => message.role === 'assistant' && isCall(message)).length,
    tools: list(body.tools).map((tool) => {
      const schema = (tool.input_schema ?? {}) as { properties?: Json; required?: string[] };
      return { name: String(tool.name), properties: schema.properties ?? {}, required: schema.required ?? [] };
    }),
  };
}

const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 };

export const anthropic: Wire = {
  name: 'anthropic',
  path: /\/messages$/,
  read,
  error: (status) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: `scripted ${status}` },
  }),
  whole: (body, { text, call }) => ({
    id: id('msg_'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [
      ...(text ? [{ type: 'text', text }] : []),
      ...(call ? [{ type: 'tool_use', id: id('toolu_'), ...call }] : []),
    ],
    stop_reason: call ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage,
  }),
  *stream(body, { text, call, pause = 1 }) {
    const say = (type: string, rest: Json) => ({ event: type, data: { type, ...rest } });
    const message = { id: id('msg_'), type: 'message', role: 'assistant', model: body.model, content: [], usage };
    yield say('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
    let index = 0;
    if (text) {
      yield say('content_block_start', { index, content_block: { type: 'text', text: '' } });
      for (const word of words(text)) {
        yield { ...say('content_block_delta', { index, delta: { type: 'text_delta', text: word } }), pause };
      }
      yield say('content_block_stop', { index: index++ });
    }
    if (call) {
      const block = { type: 'tool_use', id: id('toolu_'), name: call.name, input: {} };
      yield say('content_block_start', { index, content_block: block });
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
      yield say('content_block_delta', { index, delta });
      yield say('content_block_stop', { index });
    }
    const delta = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
    yield say('message_delta', { delta, usage: { output_tokens: 10 } });
    yield say('message_stop', {});
  },
};
