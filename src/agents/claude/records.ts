// Claude Code's own records: a file per process that says what it does, and a transcript per session.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProcess, AgentRecord } from '../../transports/sight.ts';
import { sameText } from '../live/encode.ts';
import { environmentOf } from '../live/environment.ts';
import { contentText, type Line, lengthOf, linesFrom, part, positionIn, startOf } from '../live/transcript.ts';

interface State {
  status: string;
  waitingFor: string;
  sessionId: string;
}

export async function record(agent: AgentProcess): Promise<AgentRecord | null> {
  const state = stateOf(agent);
  if (!state) return null;
  const known = ({ idle: 'idle', busy: 'working', waiting: 'blocked' } as const)[state.status];
  if (!known) return null;
  const waiting = state.waitingFor === '' ? '' : `, waiting for ${state.waitingFor}`;
  return { state: known, source: 'native', because: `Claude’s session file says ${state.status}${waiting}` };
}

export async function position(agent: AgentProcess): Promise<string | null> {
  const transcript = transcriptOf(agent);
  if (!transcript) return stateOf(agent) ? positionIn(null, 0) : null;
  return positionIn(transcript, lengthOf(transcript));
}

export async function received(agent: AgentProcess, expected: string, since: string | null): Promise<boolean | null> {
  if (!stateOf(agent)) return null;
  const transcript = transcriptOf(agent);
  if (!transcript) return false;
  const start = startOf(since, transcript);
  const lines = start === null ? null : linesFrom(transcript, start);
  return lines?.some((line) => isPrompt(line) && sameText(promptOf(line), expected)) ?? null;
}

const promptOf = (line: Line): string => contentText(part(line, 'message', 'content')) ?? '';

/** Tools' answers, reminders and the prompts of sub-agents are users' lines, too. */
const isPrompt = (line: Line): boolean => line.type === 'user' && line.isMeta !== true && line.isSidechain !== true;

function configDir(agent: AgentProcess): string | null {
  const environment = environmentOf(agent.pid);
  if (!environment) return null;
  const { CLAUDE_CONFIG_DIR, HOME } = environment;
  return CLAUDE_CONFIG_DIR || (HOME ? join(HOME, '.claude') : null);
}

function stateOf(agent: AgentProcess): State | null {
  const dir = configDir(agent);
  if (dir === null) return null;
  try {
    const read = JSON.parse(readFileSync(join(dir, 'sessions', `${agent.pid}.json`), 'utf8')) as unknown;
    const procStart = part(read, 'procStart');
    // Left behind by a former process with this pid.
    if (typeof procStart === 'string' && procStart !== agent.started) return null;
    const text = (key: string) => {
      const value = part(read, key);
      return typeof value === 'string' ? value : '';
    };
    return { status: text('status'), waitingFor: text('waitingFor'), sessionId: text('sessionId') };
  } catch {
    return null;
  }
}

/** Found by the session's id: how the folder's name is made of the working directory is not written down anywhere. */
function transcriptOf(agent: AgentProcess): string | null {
  const dir = configDir(agent);
  const id = stateOf(agent)?.sessionId;
  if (dir === null || !id || /[^\w-]/.test(id)) return null;
  const projects = join(dir, 'projects');
  try {
    const folder = readdirSync(projects).find((name) => lengthOf(join(projects, name, `${id}.jsonl`)) > 0);
    return folder === undefined ? null : join(projects, folder, `${id}.jsonl`);
  } catch {
    return null;
  }
}
