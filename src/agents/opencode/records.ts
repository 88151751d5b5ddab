// OpenCode's own record: the server inside it, where it was started with a port of its own.
import type { AgentProcess, AgentRecord } from '../../transports/sight.ts';
import { sameText } from '../live/encode.ts';
import { environmentOf } from '../live/environment.ts';
import { contentText, part } from '../live/transcript.ts';

/** It answers from memory; a server that takes longer is no source. */
const PATIENCE_MS = 2_000;

export async function record(agent: AgentProcess): Promise<AgentRecord | null> {
  const permissions = await ask(agent, '/permission');
  const statuses = await ask(agent, '/session/status');
  if (!Array.isArray(permissions) || statuses === null || typeof statuses !== 'object') return null;
  const say = (state: AgentRecord['state'], because: string): AgentRecord => ({ state, source: 'native', because });
  // A session that waits for a permission counts as busy, too.
  if (permissions.length > 0) return say('blocked', `OpenCode’s server lists ${permissions.length} open permissions`);
  const types = Object.values(statuses).map((status) => part(status, 'type'));
  if (types.includes('retry')) return say('retrying', 'OpenCode’s server says retry');
  // Sessions at rest are absent from the list.
  if (types.some((type) => type !== 'idle')) return say('working', `OpenCode’s server says ${types.join(', ')}`);
  return say('idle', 'OpenCode’s server lists no session at work');
}

/** Its ids grow with time, so the newest one is a position. */
export async function position(agent: AgentProcess): Promise<string | null> {
  const prompts = await promptsOf(agent);
  return (
    prompts &&
    (prompts
      .map(({ id }) => id)
      .sort()
      .at(-1) ??
      NOTHING_YET)
  );
}

/** Sorts before every id. */
const NOTHING_YET = '-';

export async function received(agent: AgentProcess, expected: string, since: string | null): Promise<boolean | null> {
  const prompts = await promptsOf(agent);
  return prompts?.some(({ id, text }) => id > (since ?? NOTHING_YET) && sameText(text, expected)) ?? null;
}

interface Prompt {
  id: string;
  text: string;
}

async function promptsOf(agent: AgentProcess): Promise<Prompt[] | null> {
  const sessions = await ask(agent, '/session');
  if (!Array.isArray(sessions)) return null;
  const found: Prompt[] = [];
  for (const session of sessions) {
    const messages = await ask(agent, `/session/${encodeURIComponent(String(part(session, 'id')))}/message`);
    if (!Array.isArray(messages)) return null;
    for (const message of messages) {
      const id = part(message, 'info', 'id');
      const text = contentText(part(message, 'parts'));
      if (part(message, 'info', 'role') === 'user' && typeof id === 'string' && text !== null) found.push({ id, text });
    }
  }
  return found;
}

/** Null: no server, or none that answers. */
async function ask(agent: AgentProcess, path: string): Promise<unknown> {
  const port = portOf(agent.argv);
  const environment = environmentOf(agent.pid);
  if (port === null || !environment) return null;
  const { OPENCODE_SERVER_PASSWORD: password, OPENCODE_SERVER_USERNAME: user = 'opencode' } = environment;
  const headers = password ? { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } : {};
  try {
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    return response.ok ? ((await response.json()) as unknown) : null;
  } catch {
    return null;
  }
}

function portOf(argv: readonly string[]): number | null {
  const at = argv.findIndex((word) => word === '--port' || word.startsWith('--port='));
  const word = at < 0 ? '' : argv[at]!.includes('=') ? argv[at]!.slice('--port='.length) : (argv[at + 1] ?? '');
  const port = /^\d{1,5}$/.test(word) ? Number(word) : 0;
  return port > 0 ? port : null;
}
