// OpenAI's chat completions.
import type { Conversation } from './script.ts';
import { id, type Json, list, textsOf, type Wire, words } from './wire.ts';

function read(body: Json): Conversation {
  const messages = list(body.messages);
  const prompts = messages.map((message) => (message.role === 'user' ? textsOf(message.content).join('\n') : ''));
  const latest = prompts.findLastIndex((text) => text !== '');
  return {
    prompt: prompts[latest] ?? '',
    prompts: prompts.filter((text) => text !== '').length,
    step: messages.slice(latest + 1).filter(({ role }) => role === 'tool').length,
    tools: list(body.tools).map((tool) => {
      const { name, parameters } = tool.function as { name: string; parameters?: Json };
      const schema = (parameters ?? {}) as { properties?: Json; required?: string[] };
      return { name, properties: schema.properties ?? {}, required: schema.required ?? [] };
    }),
  };
}

const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

export const chat: Wire = {
  name: 'chat',
  path: /\/chat\/completions$/,
  read,
  error: (status) => ({ error: { message: `scripted ${status}`, type: 'server_error', code: `scripted_${status}` } }),
  whole: (body, { text, call }) => ({
    id: id('chatcmpl-'),
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(call && {
            tool_calls: [
              {
                id: id('call_'),
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          }),
        },
        finish_reason: call ? 'tool_calls' : 'stop',
      },
    ],
    usage,
  }),
  *stream(body, { text, call, pause = 1 }) {
    const base = { id: id('chatcmpl-'), object: 'chat.completion.chunk', created: 0, model: body.model };
    const say = (delta: Json, finish: string | null = null) => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason: finish }] },
      pause: 0,
    });
    yield say({ role: 'assistant', content: '' });
    for (const content of words(text ?? '')) yield { ...say({ content }), pause };
    if (call) {
      const function_ = { name: call.name, arguments: JSON.stringify(call.input) };
      yield say({ tool_calls: [{ index: 0, id: id('call_'), type: 'function', function: function_ }] });
    }
    yield say({}, call ? 'tool_calls' : 'stop');
    yield { data: { ...base, choices: [], usage } };
    yield { data: '[DONE]' };
  },
};
