// Who reads the keys of a pane: the foreground process group of its terminal. tmux's own `pane_current_command` names a wrapper or
// a child as it likes, and a name proves nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { everyProcess, see } from '../process-table.ts';
import type { AgentProcess, Sight } from '../sight.ts';

export interface Occupants {
  /** The agent, in the foreground. */
  agent: AgentProcess | null;
  /** The agent is there but does not read the keys: it was stopped, or another program was put in front of it. */
  behind: AgentProcess | null;
  /** What is in the foreground, for people: `bash (pid 12)`. */
  front: string;
}

interface Member {
  pid: number;
  group: number;
  terminal: string;
  /** The foreground group of its terminal. */
  front: number;
}

/** Null: the pane's process cannot be seen from here. */
export function occupantsOf(panePid: number, isAgent: Sight['isAgent']): Occupants | null {
  const root = memberOf(panePid);
  if (!root) return null;
  const leader = agentAt(root.front, isAgent);
  // The usual case: nobody else needs to be read.
  if (leader) return { agent: leader, behind: null, front: nameOf(root.front) };
  const others = membersOf(root.terminal).filter(({ pid }) => pid !== root.front);
  const find = (members: Member[]) =>
    members.map(({ pid }) => agentAt(pid, isAgent)).find((agent) => agent !== null) ?? null;
  const agent = find(others.filter(({ group }) => group === root.front));
  const behind = agent ? null : find(others.filter(({ group }) => group !== root.front));
  return { agent, behind, front: nameOf(root.front) };
}

function agentAt(pid: number, isAgent: Sight['isAgent']): AgentProcess | null {
  const seen = see(pid);
  if (seen === null || seen === 'unreadable' || seen.zombie) return null;
  const argv = argvOf(pid);
  return argv.length > 0 && isAgent({ argv }) ? { pid, started: seen.started, argv, cwd: cwdOf(pid) } : null;
}

const nameOf = (pid: number): string => {
  const [program = 'a program'] = argvOf(pid);
  return `${program.split('/').at(-1)} (pid ${pid})`;
};

function membersOf(terminal: string): Member[] {
  if (process.platform !== 'linux') return byPs(['-ax']).filter((member) => member.terminal === terminal);
  return everyProcess()
    .map(({ pid }) => memberOf(pid))
    .filter((member) => member !== null && member.terminal === terminal)
    .map((member) => member as Member);
}

function memberOf(pid: number): Member | null {
  if (process.platform !== 'linux') return byPs(['-p', String(pid)])[0] ?? null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc_pid_stat(5): counted from the last parenthesis, since the name before it may hold anything.
    const [, , group, , terminal = '0', front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return terminal === '0' ? null : { pid, group: Number(group), terminal, front: Number(front) };
  } catch {
    return null;
  }
}

function argvOf(pid: number): string[] {
  if (process.platform !== 'linux')
    return ps(['-p', String(pid), '-o', 'args='])
      .trim()
      .split(/\s+/)
      .filter(Boolean);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

function cwdOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function byPs(which: string[]): Member[] {
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'tpgid=', '-o', 'tty='];
  return ps([...which, ...columns])
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , terminal]) => terminal !== undefined && !terminal.startsWith('?'))
    .map(([pid, group, front, terminal]) => ({
      pid: Number(pid),
      group: Number(group),
      front: Number(front),
      terminal: String(terminal),
    }));
}

function ps(args: string[]): string {
  try {
    return execFileSync('/bin/ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
