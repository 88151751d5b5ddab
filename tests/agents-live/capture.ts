// Makes fixtures/screens anew: npx tsx tests/agents-live/capture.ts [KIND…] [COLUMNS…]. Installs the agents, then goes on without a network.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SIGHTS } from '../../src/agents/live/sights.ts';
import type { ScreenState } from '../../src/transports/sight.ts';
import { settled, walk } from './capture-steps.ts';
import { installAgents, LIVE_KINDS, type LiveKind, VERSIONS } from './installation.ts';
import { isLoopbackOnly, runLoopbackOnly } from './loopback.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import { agentOf, inShell, killAgent, type Live, type LiveWishes, startLive, until } from './rig.ts';
import type { Size } from './terminal.ts';

const SIZES: Size[] = [
  { columns: 80, rows: 24 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
  { columns: 40, rows: 20 },
];
const root = fileURLToPath(new URL('../../fixtures/screens', import.meta.url));

function keeper(live: Live, size: Size, model: ModelServer) {
  return async (name: string, state: ScreenState): Promise<void> => {
    // At rest is what the agent's own record says is at rest: the screen may come later.
    if (state === 'idle') {
      const agent = await agentOf(live);
      const rests = async () => ['idle', undefined].includes((await SIGHTS[live.kind].record(agent))?.state);
      await until(`${name} is at rest by the record`, rests);
      await settled(live);
    }
    const before = model.busy(live.who);
    const screen = await live.terminal.screen();
    // A turn that has ended meanwhile, or one that goes on, would make a fixture that lies.
    const runs = before > 0 && model.busy(live.who) > 0;
    const waits = name.startsWith('working-') && name !== 'working-tool';
    if (waits !== runs && (waits || state === 'idle'))
      throw new Error(`${name} is not ${state}: ${before} requests run`);
    // The directory's random name would make every capture another one.
    const clean = (text: string) => text.replaceAll(live.dir, '/tmp/stepward-live-000000');
    const { kind } = live;
    const place = `${size.columns}x${size.rows}`;
    const fixture = {
      agent: kind,
      version: VERSIONS[kind],
      date: new Date().toISOString().slice(0, 10),
      size: place,
      title: clean(screen.title),
      text: clean(screen.text),
      state,
      observed: true,
    };
    mkdirSync(join(root, kind), { recursive: true });
    writeFileSync(join(root, kind, `${name}-${place}.json`), `${JSON.stringify(fixture, null, 1)}\n`);
  };
}

async function during(
  wishes: LiveWishes & { size: Size },
  body: (live: Live, keep: ReturnType<typeof keeper>) => Promise<void>,
) {
  const live = await startLive(wishes);
  try {
    await body(live, keeper(live, wishes.size, wishes.model));
  } catch (error) {
    process.stderr.write(`${wishes.kind} ${wishes.size.columns}: ${String(error)}\n`);
  } finally {
    const left = await live.end();
    if (left.length > 0) process.stderr.write(`left behind by ${wishes.kind}: ${left.join('; ')}\n`);
  }
}

async function captureAll(kind: LiveKind, size: Size, bin: string, model: ModelServer): Promise<void> {
  const usual = { kind, size, bin, model };
  const drawn = (live: Live) => async () => (await live.terminal.screen()).text.trim() !== '';
  if (kind !== 'opencode') {
    // Codex asks only about folders under version control.
    const wrap = (argv: string[]) => ['sh', '-c', 'git init -q . && exec "$@"', 'sh', ...argv];
    await during({ ...usual, settled: 'untrusted', wrap }, async (live, keep) => {
      if (kind === 'codex') {
        // An empty composer, drawn before the question.
        await until('the composer is drawn', async () => (await live.terminal.screen()).text.includes('\n›'));
        await keep('starting-composer', 'starting');
      }
      await until('something is drawn', drawn(live));
      await settled(live, 1_500);
      await keep('dialog-trust', 'dialog');
    });
  }
  if (kind === 'claude') {
    await during({ ...usual, settled: 'unapproved' }, async (live, keep) => {
      await until('something is drawn', drawn(live));
      await settled(live, 1_500);
      await keep('dialog-key', 'dialog');
    });
  }
  await during({ ...usual, wrap: inShell }, async (live, keep) => {
    await until('something is drawn', drawn(live));
    await settled(live, 4_000, 20_000);
    await live.terminal.type(kind === 'codex' ? '/quit' : '/exit');
    await settled(live);
    await live.terminal.keys('Enter');
    const isGone = () =>
      agentOf(live).then(
        () => false,
        () => true,
      );
    await until('the agent has ended', isGone);
    await settled(live);
    await keep('exited-shell', 'exited');
  });
  await during({ ...usual, wrap: inShell }, async (live, keep) => {
    await until('something is drawn', drawn(live));
    await settled(live, 4_000, 20_000);
    await killAgent(live);
    await until('the shell says so', async () => (await live.terminal.screen()).text.includes('Killed'));
    await settled(live);
    await keep('exited-killed', 'exited');
  });
  await during(usual, async (live, keep) => {
    await keep('starting-0', 'starting');
    await until('something is drawn', drawn(live));
    await settled(live, kind === 'opencode' ? 4_000 : 1_500, 20_000);
    await walk({ live, model, keep });
  });
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const kinds = words.filter((word): word is LiveKind => word in VERSIONS);
  const sizes = SIZES.filter(
    ({ columns }) => words.every((word) => !/^\d+$/.test(word)) || words.includes(String(columns)),
  );
  const bin = installAgents();
  if (!isLoopbackOnly()) {
    process.exitCode = runLoopbackOnly([process.execPath, ...process.execArgv, ...process.argv.slice(1)]);
    return;
  }
  const model = await startModelServer();
  for (const kind of kinds.length > 0 ? kinds : LIVE_KINDS) {
    for (const size of sizes) await captureAll(kind, size, bin, model);
  }
  await model.close();
}

await main();
