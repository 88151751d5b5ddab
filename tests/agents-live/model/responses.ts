// OpenAI's responses.
import type { Answer, Conversation } from './script.ts';
import { id, type Json, list, textsOf, type Wire, words } from './wire.ts';

/** What Codex itself puts before and between the user's words. */
const isOwn = (text: string): boolean => text.trim() !== '' && !/^(<[a-z_]+>|# AGENTS\.md)/.test(text);

function read(body: Json): Conversation {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input);
  const prompts = input.map((item) => (item.role === 'user' ? textsOf(item.content).filter(isOwn).join('\n') : ''));
  const latest = prompts.findLastIndex((text) => text !== '');
  const tools = list(body.tools).flatMap((tool) => (tool.type === 'namespace' ? list(tool.tools) : [tool]));
  return {
    prompt: prompts[latest] ?? '',
    prompts: prompts.filter((text) => text !== '').length,
    step: input.slice(latest + 1).filter(({ type }) => String(type).endsWith('_call_output')).length,
    tools: tools.map((tool) => {
      const schema = (tool.parameters ?? {}) as { properties?: Json; required?: string[] };
      return { name: String(tool.name), properties: schema.properties ?? {}, required: schema.required ?? [] };
    }),
  };
}

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};

const messageOf = (text: string): Json => ({
  id: id('msg_'),
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});

function outputOf({ text, call }: Answer): Json[] {
  const made: Json[] = text ? [messageOf(text)] : [];
  if (call) {
    const { name, input } = call;
    const item = { id: id('fc_'), type: 'function_call', status: 'completed', call_id: id('call_') };
    made.push({ ...item, name, arguments: JSON.stringify(input) });
  }
  return made;
}

const response = (body: Json): Json => ({
  id: id('resp_'),
  object: 'response',
  created_at: 0,
  model: body.model,
  output: [],
});

export const responses: Wire = {
  name: 'responses',
  path: /\/responses$/,
  read,
  error: (status) => ({ error: { message: `scripted ${status}`, type: 'server_error', code: `scripted_${status}` } }),
  whole: (body, answer) => ({ ...response(body), status: 'completed', output: outputOf(answer), usage }),
  *stream(body, answer) {
    let sequence = 0;
    const say = (type: string, rest: Json) => ({
      event: type,
      data: { type, sequence_number: sequence++, ...rest },
      pause: 0,
    });
    const base = response(body);
    const output = outputOf(answer);
    yield say('response.created', { response: { ...base, status: 'in_progress' } });
    for (const [index, item] of output.entries()) {
      const place = { output_index: index };
      const isMessage = item.type === 'message';
      const opened = isMessage ? { ...item, content: [] } : { ...item, arguments: '' };
      yield say('response.output_item.added', { ...place, item: { ...opened, status: 'in_progress' } });
      if (isMessage) {
        const at = { ...place, item_id: item.id, content_index: 0 };
        for (const delta of words(answer.text ?? '')) {
          yield { ...say('response.output_text.delta', { ...at, delta }), pause: answer.pause ?? 1 };
        }
        yield say('response.output_text.done', { ...at, text: answer.text });
      }
      yield say('response.output_item.done', { ...place, item });
    }
    yield say('response.completed', { response: { ...base, status: 'completed', output, usage } });
  },
};
