// What the system says about the processes of this pid namespace: by /proc, or by ps where there is none.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from './files.ts';

export interface Seen {
  pid: number;
  group: number;
  started: string;
  /** A zombie is dead: it holds its pid until its parent looks, and does nothing any more. */
  zombie: boolean;
}

/** Null: no such process. `unreadable`: there is one, and nothing more can be learnt (another user's, /proc hidden). */
export type Sight = Seen | 'unreadable' | null;

export function see(pid: number): Sight {
  const seen = process.platform === 'linux' ? seeByProc(pid) : (seeByPs(pid)[0] ?? null);
  if (seen) return seen;
  try {
    process.kill(pid, 0);
    return 'unreadable';
  } catch (error) {
    return codeOf(error) === 'ESRCH' ? null : 'unreadable';
  }
}

function seeByProc(pid: number): Seen | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** proc_pid_stat(5). The command name is in parentheses and may itself hold spaces, parentheses and newlines: the fields are
 *  counted from the last one. */
export function parseStat(stat: string): Seen | null {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const [state, , group] = fields;
  const started = fields[19];
  if (end < 0 || state === undefined || started === undefined) return null;
  return { pid: Number.parseInt(stat, 10), group: Number(group), started, zombie: 'ZXx'.includes(state) };
}

export function everyProcess(): Seen[] {
  if (process.platform !== 'linux') return seeByPs();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => seeByProc(Number(name)))
    .filter((seen) => seen !== null);
}

/** Where there is no /proc. One zone and one language for all who compare: both are part of what ps prints. */
export function seeByPs(pid?: number): Seen[] {
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'state=', '-o', 'lstart='];
  try {
    const text = execFileSync('/bin/ps', [...columns, ...(pid === undefined ? ['-ax'] : ['-p', String(pid)])], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').flatMap((line) => {
      const [, id, group, state, started] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
      if (!id || !state || !started) return [];
      return [{ pid: Number(id), group: Number(group), started, zombie: state.startsWith('Z') }];
    });
  } catch {
    return [];
  }
}
