// Starts an agent in a window of its own: by its arguments, in its directory, with exactly its environment. Nothing is typed: a start
// command typed into a shell is cut, quoted and expanded by it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireDirectory, resolveCommand } from '../command.ts';
import { groupMembers, identify, isAlive, signalGroup } from '../process.ts';
import { quote } from '../quote.ts';
import type { Fence } from '../transport.ts';
import { type Tmux, TmuxError } from './client.ts';
import { holdsMark, isGone, when } from './mark.ts';
import { identityOf, type PaneIdentity, type PaneView, viewPane } from './pane.ts';
import { until } from './real-time.ts';

export interface OpenOrder {
  /** The tmux session; made if it is not there. */
  session: string;
  argv: readonly string[];
  /** The whole environment, but for TERM, which is the pane's. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Of the window. */
  name: string;
  /** The attempt that the pane is opened for and closed with. Absent: it stays until somebody closes it. */
  for?: { job: string; attempt: number };
}

/** What the pane's option `@stepward_for` holds. */
export const purposeOf = ({ job, attempt }: { job: string; attempt: number }): string => `${job}/${attempt}`;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Stands in the window until its options are set; ends by itself if its driver dies before that. */
const PLACEHOLDER = ['sh', '-c', 'sleep 30'];
const START = 'exec env -i TERM="$TERM" sh "$1"';

/** Throws TypeError for what cannot be a name, PlaceError for a command or directory that is not there, TmuxError. */
export async function openAgent(tmux: Tmux, order: OpenOrder): Promise<PaneIdentity> {
  const { session, argv, env, cwd, name } = order;
  for (const word of [session, name]) {
    if (!NAME.test(word)) throw new TypeError(`"${word}" is no name for a tmux session or window: use A-Z a-z 0-9 _ -`);
  }
  const wrong = Object.keys(env).find((variable) => !VARIABLE.test(variable));
  if (wrong !== undefined) throw new TypeError(`"${wrong}" is no name for an environment variable`);
  requireDirectory(cwd);
  const command = [resolveCommand(argv[0] ?? '', cwd, env.PATH), ...argv.slice(1)];
  const dir = mkdtempSync(join(tmpdir(), 'stepward-open-'));
  try {
    const script = join(dir, 'start.sh');
    writeFileSync(script, startScript({ dir, command, cwd, env }), { mode: 0o600 });
    const id = await openWindow(tmux, session, name);
    const purpose = order.for ? ['set-option', '-p', '-t', id, '@stepward_for', purposeOf(order.for), ';'] : [];
    // Before the agent starts: one that ends at once must leave its last words to be read.
    const keep = ['set-option', '-p', '-t', id, 'remain-on-exit', 'on', ';'];
    await tmux.run([...purpose, ...keep, 'respawn-pane', '-k', '-t', id, 'sh', '-c', START, 'sh', script]);
    const view = await viewPane(tmux, id);
    const pane = 'gone' in view ? null : identityOf(view);
    if (pane) return pane;
    const seen = 'gone' in view ? view.gone : view.ending;
    throw new TmuxError('no-target', `the agent did not stay in its pane ${id}: ${seen}`);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** `=` since tmux takes the beginning of a session's name for the name. */
async function openWindow(tmux: Tmux, session: string, name: string): Promise<string> {
  const print = ['-d', '-P', '-F', '#{pane_id}'];
  for (let tries = 0; ; tries++) {
    try {
      return (await tmux.run(['new-window', ...print, '-t', `=${session}:`, '-n', name, ...PLACEHOLDER])).trim();
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    try {
      const size = ['-x', '200', '-y', '50'];
      return (await tmux.run(['new-session', ...print, ...size, '-s', session, '-n', name, ...PLACEHOLDER])).trim();
    } catch (error) {
      // Somebody else made the session in between.
      if (tries > 0 || !(error instanceof TmuxError) || !/duplicate session/.test(error.message)) throw error;
    }
  }
}

/** A file, so that values that may be secret stand in no command line; it removes itself before it becomes the agent. */
function startScript(input: { dir: string; command: string[]; cwd: string; env: OpenOrder['env'] }): string {
  const variables = Object.entries(input.env).filter(([name]) => name !== 'TERM');
  return [
    `rm -rf -- ${quote(input.dir)}`,
    'unset PWD OLDPWD SHLVL _',
    `cd -- ${quote(input.cwd)} || exit 127`,
    ...variables.map(([name, value]) => `${name}=${quote(value)}; export ${name}`),
    `exec ${input.command.map(quote).join(' ')}`,
    '',
  ].join('\n');
}

/** Closes a pane of ours, and sees to it that its process ends: some ignore the hang-up. */
export async function endPane(tmux: Tmux, view: PaneView, fence: Fence, closeMs: number): Promise<void> {
  const process = identify(view.pid);
  try {
    if (!(await when(tmux, view.id, holdsMark(fence), `kill-pane -t '${view.id}'`))) return;
  } catch (error) {
    // With the last pane the server ends, perhaps before it has answered.
    if (!isGone(error)) throw error;
  }
  if (!process) return;
  const isOver = () => !isAlive(process) && groupMembers(process).length === 0;
  if (await until(isOver, closeMs)) return;
  signalGroup(process, 'SIGKILL');
  await until(isOver, closeMs);
}
