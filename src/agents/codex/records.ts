// Codex's own record: the rollout of the thread, which the process holds open from its first prompt on. It tells of turns, not of
// permissions.
import { readdirSync, readlinkSync } from 'node:fs';
import { everyProcess, see } from '../../transports/process-table.ts';
import type { AgentProcess, AgentRecord } from '../../transports/sight.ts';
import { sameText } from '../live/encode.ts';
import { contentText, type Line, lengthOf, linesFrom, part, positionIn, startOf } from '../live/transcript.ts';

const ROLLOUT = /\/rollout-[^/]*\.jsonl$/;

export async function record(agent: AgentProcess): Promise<AgentRecord | null> {
  const rollout = rolloutOf(agent);
  const lines = rollout === null ? null : linesFrom(rollout, 0);
  const last = lines?.findLast((line) => TURNS[eventOf(line)] !== undefined);
  if (!last) return null;
  const event = eventOf(last);
  return { state: TURNS[event]!, source: 'transcript', because: `the last turn in Codex’s rollout: ${event}` };
}

const TURNS: Readonly<Record<string, 'idle' | 'working'>> = Object.freeze({
  task_started: 'working',
  turn_started: 'working',
  task_complete: 'idle',
  turn_complete: 'idle',
  turn_aborted: 'idle',
});

export async function position(agent: AgentProcess): Promise<string | null> {
  const rollout = rolloutOf(agent);
  if (rollout !== null) return positionIn(rollout, lengthOf(rollout));
  return canLook(agent) ? positionIn(null, 0) : null;
}

export async function received(agent: AgentProcess, expected: string, since: string | null): Promise<boolean | null> {
  const rollout = rolloutOf(agent);
  if (rollout === null) return canLook(agent) ? false : null;
  const start = startOf(since, rollout);
  const lines = start === null ? null : linesFrom(rollout, start);
  return lines?.some((line) => sameText(promptOf(line) ?? '', expected)) ?? null;
}

const eventOf = (line: Line): string => (line.type === 'event_msg' ? String(part(line, 'payload', 'type')) : '');

function promptOf(line: Line): string | null {
  if (eventOf(line) === 'user_message') return contentText(part(line, 'payload', 'message'));
  if (eventOf(line) !== 'item_completed' || part(line, 'payload', 'item', 'type') !== 'UserMessage') return null;
  return contentText(part(line, 'payload', 'item', 'content'));
}

/** The newest of those that the process, or the binary that npm's script has started, holds open. */
function rolloutOf(agent: AgentProcess): string | null {
  return (
    openFiles(agent)
      .filter((path) => ROLLOUT.test(path))
      .sort()
      .at(-1) ?? null
  );
}

const canLook = (agent: AgentProcess): boolean => openFiles(agent).length > 0;

function openFiles(agent: AgentProcess): string[] {
  const seen = see(agent.pid);
  if (seen === null || seen === 'unreadable' || process.platform !== 'linux') return [];
  const group = everyProcess().filter((one) => one.group === seen.group);
  return group.flatMap(({ pid }) => {
    const dir = `/proc/${pid}/fd`;
    try {
      return readdirSync(dir).flatMap((name) => linkOf(`${dir}/${name}`));
    } catch {
      return [];
    }
  });
}

function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    // Closed in between.
    return [];
  }
}
