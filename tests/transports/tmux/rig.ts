// One temp directory with a tmux server of its own and the scripted agent in a pane of it.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Sight } from '../../../src/transports/sight.ts';
import { createTmux, type Tmux } from '../../../src/transports/tmux/client.ts';
import { openAgent } from '../../../src/transports/tmux/open.ts';
import type { PaneIdentity } from '../../../src/transports/tmux/pane.ts';
import type { TmuxOptions } from '../../../src/transports/tmux/parts.ts';
import { createTmuxTransport } from '../../../src/transports/tmux/tmux.ts';
import type { Fence, Owner, Place, Transport } from '../../../src/transports/transport.ts';
import type { Rig } from '../conformance.ts';
import { eventually } from '../eventually.ts';
import { endLeftovers } from '../leaks.ts';
import { tuiSight } from './tui-sight.ts';

export const TUI = fileURLToPath(new URL('./tui.mjs', import.meta.url));

/** Waits that only failing or dead agents need are shortened: what is proven does not depend on their length. */
const QUICK = { evidenceMs: 3_000, secondLookMs: 1_000 };

export interface TmuxRig extends Rig {
  dir: string;
  socket: string;
  tmux: Tmux;
  pane: PaneIdentity;
  sight: Sight;
  options: TmuxOptions;
  transportWith(options: Partial<TmuxOptions>): Transport;
  /** Prompts as they reached the agent. */
  prompts(): string[];
  /** Lines of a file that the agent writes. */
  told(name: string): string[];
  /** Every byte that reached the agent. */
  input(): Buffer;
  /** Gives an order, and waits until it is obeyed. */
  order(order: string): Promise<void>;
  screen(): Promise<string>;
  fence(): Promise<Fence>;
  /** Paste buffers that are left on the server. */
  buffers(): Promise<string>;
  open(extra?: { for?: { job: string; attempt: number }; env?: Record<string, string> }): Promise<PaneIdentity>;
}

export interface RigOptions {
  env?: Record<string, string>;
  sight?: (sight: Sight) => Sight;
  for?: { job: string; attempt: number };
  times?: TmuxOptions['times'];
  /** Commands for the server before the agent is opened. */
  prepare?: string[][];
}

export const owner = (epoch: number): Owner => ({
  registry: 'r',
  job: 'j1',
  attempt: 1,
  epoch,
  pid: process.pid,
  started: 'x',
});

export async function createTmuxRig(wish: RigOptions = {}): Promise<TmuxRig> {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-tmux-'));
  const agentDir = join(dir, 'agent');
  const cwd = join(dir, 'cwd');
  for (const path of [agentDir, cwd]) mkdirSync(path);
  const brief = join(dir, 'brief.md');
  writeFileSync(brief, 'Repair it.\n');
  const socket = join(dir, 's');
  // The configuration of whoever runs the tests is none of ours.
  const env = { PATH: process.env.PATH, HOME: dir, LANG: 'C', STEPWARD_TEST_DIR: dir };
  const server = { path: socket };
  const tmux = createTmux({ server, env });
  const plain = tuiSight(agentDir);
  const sight = wish.sight?.(plain) ?? plain;
  const options: TmuxOptions = {
    clock: systemClock,
    server,
    env,
    sightOf: (kind) => (kind === 'tui' ? sight : null),
    times: { ...QUICK, ...wish.times },
  };
  for (const command of wish.prepare ?? []) await tmux.run(command);
  const open: TmuxRig['open'] = (extra) =>
    openAgent(tmux, {
      session: 'stepward',
      argv: [process.execPath, TUI, agentDir],
      env: { PATH: process.env.PATH ?? '', STEPWARD_TEST_DIR: dir, ...wish.env, ...extra?.env },
      cwd,
      name: 'agent',
      ...(extra?.for && { for: extra.for }),
    });
  const told = (name: string) =>
    existsSync(join(agentDir, name)) ? readFileSync(join(agentDir, name), 'utf8').split('\n').slice(0, -1) : [];
  const pane = await open(wish.for && { for: wish.for });
  const screen = () => tmux.run(['capture-pane', '-p', '-t', pane.id]);
  await eventually(async () => (await screen()).includes('= ready ='));
  const place: Place = {
    job: 'j1',
    attempt: 1,
    kind: 'tui',
    target: pane.id,
    cwd,
    runDir: join(dir, 'run'),
    brief,
    argv: [],
    env: {},
  };
  const transport = createTmuxTransport(options);
  const prompts = () => told('prompts.jsonl').map((line) => (JSON.parse(line) as { text: string }).text);
  let orders = 0;
  const order = async (text: string) => {
    appendFileSync(join(agentDir, 'orders'), `${text}\n`);
    orders += 1;
    await eventually(() => told('obeyed').length === orders);
  };
  return {
    dir,
    socket,
    tmux,
    pane,
    sight,
    options,
    transport,
    second: createTmuxTransport(options),
    transportWith: (other) => createTmuxTransport({ ...options, ...other }),
    place,
    unusable: [
      { why: 'no pane', place: { ...place, target: 'work' }, says: /"work" is not a pane; name one by its id/ },
      { why: 'a gone pane', place: { ...place, target: '%999' }, says: /there is no pane %999; start tui there/ },
      {
        why: 'no directory',
        place: { ...place, cwd: join(dir, 'gone') },
        says: /gone does not exist; name an existing/,
      },
      { why: 'unknown kind', place: { ...place, kind: 'other' }, says: /nothing is known of the screens of "other"/ },
      { why: 'no line', place: { ...place, brief: '/a\nb' }, says: /cannot be typed: a prompt is one line/ },
    ],
    prompts,
    told,
    input: () => Buffer.from(told('input').join(''), 'hex'),
    order,
    screen,
    async fence() {
      const fence = await transport.takeMark(place, owner(1), async () => true);
      if (!fence) throw new Error('the mark was not given');
      return fence;
    },
    buffers: () => tmux.run(['list-buffers']),
    open,
    received: () => prompts().length,
    live: {
      draft: (text) => order(`draft ${text}`),
      emptyComposer: () => order('empty'),
      openDialog: () => order('dialog'),
      closeDialog: () => order('close-dialog'),
      loseEnter: () => order('eat-enter'),
      composer: async () => sight.read({ text: await screen(), title: '' }).composer,
      approvals: () => told('approved').length,
      interrupts: () => told('interrupted').length,
    },
    finishTurn: () => order('finish'),
    finishedWork: () => told('ended').length > 0,
    async dispose() {
      const buffers = await tmux.run(['list-buffers']).catch(() => '');
      await tmux.run(['kill-server']).catch(() => {});
      const left = await endLeftovers(dir);
      const scripts = startScriptsOf(dir);
      rmSync(dir, { recursive: true });
      return [...left, ...(buffers && [`buffers: ${buffers}`]), ...scripts];
    },
  };
}

/** Start scripts that were not removed by the agent they started; other tests run at the same time and have theirs there, too. */
const startScriptsOf = (dir: string): string[] =>
  readdirSync(tmpdir()).filter((name) => {
    if (!name.startsWith('stepward-open-')) return false;
    try {
      return readFileSync(join(tmpdir(), name, 'start.sh'), 'utf8').includes(dir);
    } catch {
      return false; // gone between the two looks
    }
  });
