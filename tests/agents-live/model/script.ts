// What the scripted model answers. The last directive `[[name argument]]` in the last user text picks the script, and the number of tool
// calls since then the step: stateless, so that retries, titles and other side requests do not shift it.

export interface Tool {
  name: string;
  properties: Readonly<Record<string, unknown>>;
  required: readonly string[];
}

export interface Conversation {
  /** The last thing the user said, exactly, without what the agent put around it. */
  prompt: string;
  /** How many prompts there were, this one included. */
  prompts: number;
  /** Tool calls answered since that prompt. */
  step: number;
  tools: readonly Tool[];
}

export interface Call {
  name: string;
  input: Record<string, unknown>;
}

export interface Answer {
  /** An HTTP error instead of an answer. */
  status?: number;
  /** Nothing is sent before this name is released by the test. */
  gate?: string;
  text?: string;
  /** After each word, ms. */
  pause?: number;
  call?: Call;
  /** The connection ends in the middle of the text. */
  cut?: boolean;
}

const TITLE: Answer = { text: 'A scripted title' };
const DIRECTIVE = /\[\[(\w+)(?:\s+([\s\S]*?))?\]\]/g;

export function answerTo(conversation: Conversation): Answer {
  // Agents ask for a title, a summary or a topic without offering tools.
  if (conversation.tools.length === 0) return TITLE;
  const directive = [...conversation.prompt.matchAll(DIRECTIVE)].at(-1);
  if (!directive) return { text: 'Nothing was asked of me.' };
  const [, name = '', argument = ''] = directive;
  return scripted(name, argument.trim(), conversation);
}

function scripted(name: string, argument: string, { step, tools }: Conversation): Answer {
  switch (name) {
    case 'say':
      return { text: argument };
    case 'lines':
      return { text: Array.from({ length: Number(argument) }, (_, i) => `${i + 1}. a line of the answer`).join('\n') };
    case 'words':
      return { text: Array.from({ length: Number(argument) }, (_, i) => `word${i} `).join(''), pause: 200 };
    case 'gate':
      return { gate: argument, text: 'The gate is open.' };
    case 'fail':
      return { status: Number(argument) };
    case 'cut':
      return { text: 'This answer will never be whole, since the line goes dead', cut: true, pause: 50 };
    case 'run':
    case 'ask':
      if (step > 0) return { text: 'The command has run.' };
      return { text: 'I shall run a command.', call: shellCall(tools, argument, name === 'ask') };
    case 'use': {
      if (step > 0) return { text: 'The tool was used.' };
      const [tool = '', ...json] = argument.split(' ');
      return { call: { name: tool, input: JSON.parse(json.join(' ')) as Record<string, unknown> } };
    }
    default:
      return { text: `There is no script ${name}.` };
  }
}

const SHELLS = ['Bash', 'bash', 'exec_command', 'shell'];

function shellCall(tools: readonly Tool[], command: string, escalated: boolean): Call {
  const tool = SHELLS.map((name) => tools.find((offered) => offered.name === name)).find((found) => found);
  if (!tool) throw new Error(`no shell among the tools ${tools.map(({ name }) => name).join(', ')}`);
  const input: Record<string, unknown> = 'cmd' in tool.properties ? { cmd: command } : { command };
  if (escalated && 'sandbox_permissions' in tool.properties) {
    input.sandbox_permissions = 'require_escalated';
    input.justification = 'May I run this?';
  }
  for (const name of tool.required) input[name] ??= 'runs a command';
  return { name: tool.name, input };
}
