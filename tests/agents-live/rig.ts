// A real agent in a pane of its own: everything that belongs to it lies in one directory and ends with it.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIGHTS } from '../../src/agents/live/sights.ts';
import { everyProcess, see } from '../../src/transports/process-table.ts';
import type { AgentProcess } from '../../src/transports/sight.ts';
import { freePort } from '../support/ports.ts';
import { type Launch, prepare, type Wishes } from './homes.ts';
import type { LiveKind } from './installation.ts';
import type { ModelServer } from './model-server.ts';
import { openTerminal, type Size, type Terminal } from './terminal.ts';

export interface Live {
  kind: LiveKind;
  who: string;
  dir: string;
  cwd: string;
  home: string;
  terminal: Terminal;
  /** Ends the pane and all processes of this home; gives the command lines of those that had left the pane. */
  end(): Promise<string[]>;
}

export interface LiveWishes extends Partial<Pick<Wishes, 'asks' | 'settled'>> {
  kind: LiveKind;
  bin: string;
  model: ModelServer;
  size?: Size;
  /** Other words before or instead of the agent's. */
  wrap?: (argv: string[]) => string[];
}

let started = 0;

export async function startLive(wishes: LiveWishes): Promise<Live> {
  const { kind, bin, model, size = { columns: 100, rows: 30 }, wrap = (argv: string[]) => argv } = wishes;
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'stepward-live-')));
  const who = `${kind}-${++started}`;
  const home = join(dir, 'home');
  const cwd = join(dir, 'work');
  const more = { asks: wishes.asks ?? true, settled: wishes.settled ?? 'all' };
  const { argv, env }: Launch = prepare(kind, { home, cwd, url: model.url(who), port: await freePort(), ...more });
  const terminal = await openTerminal({
    dir,
    cwd,
    argv: wrap([join(bin, argv[0] ?? ''), ...argv.slice(1)]),
    env: {
      ...env,
      HOME: home,
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      TMPDIR: dir,
    },
    size,
  });
  return {
    kind,
    who,
    dir,
    cwd,
    home,
    terminal,
    async end() {
      const group = await terminal.pid();
      await terminal.end();
      const isOver = () => processesOf(home).length === 0;
      await until(`processes of ${who} end`, isOver, 3_000).catch(() => {});
      // An agent may outlive its pane by a minute; it is ours, and ended here. What has left its group is a leak.
      const left = processesOf(home).filter((one) => one.group !== group);
      for (const { pid } of processesOf(home)) endNow(pid);
      await until(`processes of ${who} are gone`, isOver);
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
      return left.map(({ argv }) => argv.join(' '));
    },
  };
}

/** Found by its environment right before; it may have ended by itself since. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

/** The agent's words, started by a shell that stays when it has ended. */
export const inShell = (argv: string[]): string[] => {
  const script = '"$@"; PS1="$ " exec bash --norc -i';
  return ['bash', '--norc', '-c', script, 'bash', ...argv];
};

/** Codex is two processes: what npm installed as a script, and the binary that it starts and that survives it. */
export async function killAgent(live: Live): Promise<void> {
  await until('it is killed', () =>
    agentOf(live).then(
      ({ pid }) => !process.kill(pid, 'SIGKILL'),
      () => true,
    ),
  );
}

/** The agent itself, below what started it; throws while there is none. */
export async function agentOf(live: Live): Promise<AgentProcess> {
  const root = await live.terminal.pid();
  const { isAgent } = SIGHTS[live.kind];
  const found = processesOf(live.home).find(({ argv, group }) => group === root && isAgent({ argv }));
  const seen = found && see(found.pid);
  if (!found || !seen || seen === 'unreadable') throw new Error(`no ${live.kind} runs in the pane`);
  return { pid: found.pid, started: seen.started, argv: found.argv, cwd: live.cwd };
}

/** Waits for a condition. Throws with what it waited for, and with what `shown` says. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  ms = 30_000,
  shown: () => Promise<string> = async () => '',
): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}\n${await shown()}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Found by the environment that they were started with, which no daemon gets rid of. */
function processesOf(home: string): { pid: number; group: number; argv: string[] }[] {
  return everyProcess().flatMap(({ pid, group, zombie }) => {
    try {
      const has = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
      return has && !zombie ? [{ pid, group, argv }] : [];
    } catch {
      return [];
    }
  });
}
