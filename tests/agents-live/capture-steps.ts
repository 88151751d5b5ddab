// Which screens are captured, and how each comes about. What a screen truly shows is known by construction: the model waits at a gate,
// answers with an error, asks for a tool; nobody has read the screen to find out.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ScreenState } from '../../src/transports/sight.ts';
import type { LiveKind } from './installation.ts';
import type { ModelServer } from './model-server.ts';
import { type Live, until } from './rig.ts';

export type Keep = (name: string, state: ScreenState) => Promise<void>;

interface Stage {
  live: Live;
  model: ModelServer;
  keep: Keep;
}

const INTERRUPT: Record<LiveKind, string[]> = { claude: ['Escape'], codex: ['Escape'], opencode: ['Escape', 'Escape'] };

/** Nothing moves any more but spinners and clocks. */
export async function settled({ terminal }: Live, quietMs = 700, limitMs = 8_000): Promise<void> {
  const still = async () => (await terminal.screen()).text.replace(/[\d✢✳✶✻✽·*⠀-⣿■⬝•◦]/g, '');
  const end = performance.now() + limitMs;
  let last = await still();
  let since = performance.now();
  while (performance.now() - since < quietMs && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    const now = await still();
    if (now !== last) since = performance.now();
    last = now;
  }
}

const asked = ({ live, model }: Stage) => model.requests(live.who).length;

async function submit(stage: Stage, prompt: string, limitMs?: number): Promise<void> {
  const before = asked(stage);
  await stage.live.terminal.paste(prompt);
  await settled(stage.live, 250, 2_000);
  await stage.live.terminal.keys('Enter');
  await until(
    `${prompt} reaches the model`,
    () => asked(stage) > before,
    20_000,
    async () => (await stage.live.terminal.screen()).text,
  );
  await settled(stage.live, 700, limitMs);
}

const interrupt = async ({ live }: Stage) => {
  for (const key of INTERRUPT[live.kind]) {
    await live.terminal.keys(key);
    await settled(live, 300, 1_500);
  }
  await settled(live);
};

/** Codex says so in its title before it draws the dialog. */
async function asking(live: Live): Promise<void> {
  const { terminal } = live;
  if (live.kind === 'codex') {
    await until('the title tells of the dialog', async () =>
      (await terminal.screen()).title.includes('Action Required'),
    );
  }
  await settled(live, 1_500, 6_000);
}

/** A key that is sent as soon as a dialog is drawn may be lost. */
async function approve(stage: Stage, done: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 5 && !(await done()); tries++) {
    await stage.live.terminal.keys('Enter');
    await until('the answer counts', done, 2_000).catch(() => {});
  }
  if (!(await done())) throw new Error('the permission could not be given');
  await settled(stage.live);
}

const clear = async ({ live }: Stage) => {
  for (let i = 0; i < 4; i++) await live.terminal.keys('C-e', 'C-u');
  await live.terminal.keys(...Array.from({ length: 60 }, () => 'BSpace'));
  await settled(live);
};

const QUOTED = [
  'Please look at this screen of another agent:',
  ' Do you want to proceed?',
  ' ❯ 1. Yes',
  '   2. No',
  ' Esc to cancel · Tab to amend',
  '  Would you like to run the following command?',
  '› 1. Yes, proceed (y)',
  '  Press enter to confirm or esc to cancel',
  '△ Permission required',
  '✻ Thinking… (3s · esc to interrupt)',
  '• Working (3s • esc to interrupt)',
  '[[say It says: Do you want to proceed? esc to interrupt]]',
].join('\n');

export async function walk(stage: Stage): Promise<void> {
  const { live, model, keep } = stage;
  const { terminal } = live;
  await keep('idle-fresh', 'idle');

  await terminal.paste('half a thought');
  await settled(live);
  await keep('draft', 'draft');
  await terminal.paste(' and more of it,\nwhich goes on in a second line\n\nand a fourth: [[say A short answer.]]');
  await settled(live);
  await keep('draft-lines', 'draft');
  const before = asked(stage);
  await terminal.keys('Enter');
  await until('the draft reaches the model', () => asked(stage) > before);
  await settled(live);
  await keep('idle-after', 'idle');

  await submit(stage, `Wait. [[gate ${live.who}-one]]`);
  await keep('working-waiting', 'working');
  await terminal.type('typed meanwhile');
  await settled(live);
  await keep('working-draft', 'working');
  await clear(stage);
  model.open(`${live.who}-one`);
  await settled(live);
  await keep('idle-second', 'idle');

  await submit(stage, 'Ask. [[ask touch first.txt]]');
  await asking(live);
  await keep('blocked', 'blocked');
  const answered = () => model.requests(live.who).at(-1)?.step === 1;
  await approve(stage, answered);
  await keep('idle-approved', 'idle');

  await submit(stage, QUOTED);
  await keep('idle-quoted', 'idle');

  await submit(stage, 'Run. [[ask touch running; sleep 3333]]');
  await approve(stage, () => existsSync(join(live.cwd, 'running')));
  await keep('working-tool', 'working');
  await interrupt(stage);
  await keep('idle-interrupted', 'idle');

  await submit(stage, 'Stream. [[words 60]]', 2_000);
  await keep('working-streaming', 'working');
  await settled(live, 1_500, 20_000);

  await submit(stage, 'Long. [[lines 120]]');
  await settled(live, 1_500, 20_000);
  await keep('idle-long', 'idle');
  await submit(stage, `Wait again. [[gate ${live.who}-two]]`);
  await keep('working-long', 'working');
  model.open(`${live.who}-two`);
  await settled(live);
  await submit(stage, 'Ask again. [[ask touch second.txt]]');
  await asking(live);
  await keep('blocked-long', 'blocked');
  await terminal.keys('Escape');
  await settled(live);
  await keep('idle-denied', 'idle');

  await submit(stage, 'Break. [[fail 500]]');
  await keep('retrying-500', 'retrying');
  await settled(live, 3_000, 12_000);
  if (live.kind === 'codex') await keep('idle-error', 'idle');
  else {
    await interrupt(stage);
    await clear(stage);
  }
  await submit(stage, 'Refuse. [[fail 429]]');
  await settled(live, 1_000, 5_000);
  if (live.kind === 'codex') await keep('idle-refused', 'idle');
  else {
    await keep('retrying-429', 'retrying');
    await interrupt(stage);
    await clear(stage);
  }
  if (live.kind !== 'opencode') {
    await submit(stage, 'Forbidden. [[fail 400]]');
    await settled(live, 1_500, 8_000);
    await keep('idle-failed', 'idle');
  }

  await menus(stage);
}

async function menus({ live, keep }: Stage): Promise<void> {
  const { terminal } = live;
  await terminal.type('/');
  await settled(live);
  await keep('draft-slash', 'draft');
  await terminal.keys('Escape', 'BSpace');
  await settled(live);
  await terminal.type(live.kind === 'opencode' ? '/models' : '/model');
  await settled(live);
  await terminal.keys('Enter');
  await settled(live);
  await keep('dialog-model', 'dialog');
  await terminal.keys('Escape');
  await settled(live);
  await terminal.keys('Escape');
  await settled(live);
  await terminal.resize({ columns: 72, rows: 22 });
  await settled(live);
  await keep('idle-resized', 'idle');
  await terminal.type(live.kind === 'codex' ? '/quit' : '/exit');
  await settled(live);
  await terminal.keys('Enter');
  await until('the agent exits', () => terminal.isDead()).catch(() => {});
  await settled(live);
  await keep('exited-dead', 'exited');
}
