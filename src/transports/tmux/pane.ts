// One look at a pane by one tmux call: what it is and what it shows. A pane is meant by its `%id` and the process tmux started in
// it: ids begin anew with each server, and a pid alone is given away again.
import { identify } from '../process.ts';
import { type Tmux, TmuxError } from './client.ts';

export interface PaneIdentity {
  id: string;
  pid: number;
  started: string;
}

export interface PaneView {
  id: string;
  /** Its process has ended; the pane is kept to be read. */
  dead: boolean;
  /** `exited with code 1`, `killed by signal 9`. */
  ending: string;
  /** Somebody scrolls or chooses in it: keys do not reach the program, pastes do. */
  inMode: boolean;
  pid: number;
  /** The option `@stepward`: the mark. */
  mark: string;
  /** The option `@stepward_for`: the attempt that the pane was opened for. */
  openedFor: string;
  /** Of the server. */
  version: string;
  size: { width: number; height: number };
  cursor: { x: number; y: number };
  alternate: boolean;
  /** What tmux calls its program; for people only. */
  command: string;
  /** When anything of its window was last written, s since the epoch. */
  activity: number;
  title: string;
  text: string;
  /** performance.now() before tmux was asked: nothing of this is newer, so its age is never underrated. */
  at: number;
}

/** No tmux server, or none that knows such a pane. */
export type PaneGone = { gone: string };

const PANE = /^%\d+$/;
export const isPaneId = (target: string): boolean => PANE.test(target);

const FIELDS = [
  'pane_id',
  'pane_dead',
  'pane_dead_status',
  'pane_dead_signal',
  'pane_in_mode',
  'pane_pid',
  '@stepward',
  '@stepward_for',
  'version',
  'pane_width',
  'pane_height',
  'cursor_x',
  'cursor_y',
  'alternate_on',
  'pane_current_command',
  'window_activity',
  // Last: it may hold the separator.
  'pane_title',
];
const SEPARATOR = '|';
const FORMAT = FIELDS.map((field) => `#{${field}}`).join(SEPARATOR);

/** Throws TmuxError for a server that does not answer. */
export async function viewPane(tmux: Tmux, id: string): Promise<PaneView | PaneGone> {
  if (!isPaneId(id)) return { gone: `"${id}" is not a pane` };
  const at = performance.now();
  let printed: string;
  try {
    printed = await tmux.run(['display-message', '-p', '-t', id, FORMAT, ';', 'capture-pane', '-p', '-t', id]);
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    if (error.trouble === 'no-target') return { gone: `there is no pane ${id}` };
    if (error.trouble === 'no-server') return { gone: `no tmux server answers (${error.message})` };
    throw error;
  }
  const end = printed.indexOf('\n');
  const values = printed.slice(0, end).split(SEPARATOR);
  const value = (field: string): string => values[FIELDS.indexOf(field)] ?? '';
  // For a pane that is not there tmux prints empty fields and says that all is well.
  if (value('pane_id') !== id) return { gone: `there is no pane ${id}` };
  return {
    id,
    dead: value('pane_dead') === '1',
    ending: endingOf(value('pane_dead_status'), value('pane_dead_signal')),
    inMode: value('pane_in_mode') !== '0',
    pid: Number(value('pane_pid')),
    mark: value('@stepward'),
    openedFor: value('@stepward_for'),
    version: value('version'),
    size: { width: Number(value('pane_width')), height: Number(value('pane_height')) },
    cursor: { x: Number(value('cursor_x')), y: Number(value('cursor_y')) },
    alternate: value('alternate_on') === '1',
    command: value('pane_current_command'),
    activity: Number(value('window_activity')),
    title: values.slice(FIELDS.indexOf('pane_title')).join(SEPARATOR),
    text: printed.slice(end + 1).trimEnd(),
    at,
  };
}

/** Null: its process cannot be seen from here (dead, or in another pid namespace). */
export function identityOf(view: PaneView): PaneIdentity | null {
  const seen = identify(view.pid);
  return seen && { id: view.id, pid: view.pid, started: seen.started };
}

function endingOf(status: string, signal: string): string {
  if (signal !== '') return `killed by signal ${signal}`;
  return status === '' ? 'ended' : `exited with code ${status}`;
}
