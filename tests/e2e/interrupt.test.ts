// Ctrl-C, and what is left open by it: nothing that was not sent may be called failed, nothing that was stopped may be called
// running by itself.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quote } from '../../src/transports/quote.ts';
import { processesIn, project, registered, stepward, stepwardUnderTest } from './support.ts';

describe('Ctrl-C', () => {
  it('after the delivery stops a headless agent, says so, and resume tells its end', async () => {
    const p = project();
    const driver = p.start(p.delegate('silent'));
    const id = await driver.says(/registered job: (\S+)/);
    await expect.poll(() => p.starts().length).toBe(1);
    await driver.says(/notBegun|working|hidden/);
    driver.child.kill('SIGINT');
    const { code, stderr } = await driver.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/its agent was stopped/);
    expect(stderr).toContain(`stepward resume ${id}`);
    expect(processesIn(p.dir)).toEqual([]);
    expect((await p.run(['resume', id])).code).toBe(1);
    expect(await p.status(id)).toMatchObject({ status: 'error', reason: 'agent_exited' });
  });

  it('leaves a job that a person works on open', async () => {
    const p = project();
    const driver = p.start(['delegate', '--agent', 'human', '--prompt', 'x']);
    const id = await driver.says(/registered job: (\S+)/);
    await driver.says(/emit completed/);
    driver.child.kill('SIGINT');
    const { code, stderr } = await driver.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/goes on without this process/);
    expect(await p.status(id)).toMatchObject({ status: 'running' });
    expect((await p.run(['cancel', id])).code).toBe(0);
  });
});

it('a start that was made void before it happened is a job that was never delivered: exit 5, no agent ran', async () => {
  for (let n = 1; ; n++) {
    const p = project();
    const env = { STEPWARD_TEST_KILL: `after:${n}` };
    const killed = await p.run(p.delegate('completes'), { bin: stepwardUnderTest, env });
    expect(killed.signal).toBe('SIGKILL');
    const id = registered(killed.stderr);
    const marked = (await p.log(id)).at(-1)?.what === 'step.started';
    if (!marked) {
      await p.close();
      continue;
    }
    // What Ctrl-C does to a run whose launcher is not there yet.
    const runDir = join(p.dir, '.stepward', 'runs', id, '1');
    mkdirSync(runDir, { recursive: true });
    writeFileSync(join(runDir, 'started'), JSON.stringify({ void: true }));
    const { code, stderr } = await p.run(['resume', id]);
    expect(code, stderr).toBe(5);
    expect(await p.status(id)).toMatchObject({ status: 'cancelled', reason: 'not_delivered', exit: 5 });
    expect(p.starts()).toEqual([]);
    break;
  }
});

it('what the agent printed last is shown with a bad end, and all of it by logs --output', async () => {
  const p = project();
  const script = 'echo some output; echo oops >&2; exit 3';
  const { code, stderr } = await p.run(['delegate', '--agent', 'command', '--prompt', 'x', '--', 'sh', '-c', script]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/\| oops/);
  const id = registered(stderr);
  expect((await p.run(['explain', id])).stdout).toMatch(/\| oops/);
  expect((await p.run(['logs', id, '--output'])).stdout).toBe('some output\noops\n');
});

it('a question is shown in the words of the one who asks', async () => {
  const p = project();
  const driver = p.start(p.delegate('asksAndWaits'));
  const id = await driver.says(/registered job: (\S+)/);
  await expect.poll(async () => (await p.status(id)).state, { timeout: 20_000 }).toBe('injected.blocked');
  expect((await p.run(['explain', id])).stdout).toMatch(/it asks: may I\?/);
  await p.run(['cancel', id]);
  await driver.ended;
});

it('a registry where none can be made is refused at once', async () => {
  const p = project();
  const { code, stderr } = await p.run(p.delegate('completes', '--registry', '/proc/foo'));
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/\/proc\/foo/);
});

describe('a terminal that is closed', () => {
  it.each([
    ['delegate', ['delegate', '--agent', 'human', '--prompt', 'x'], 'emit completed'],
    ['host', ['host'], 'started'],
    ['watch', ['watch', '@last'], 'ended|open'],
  ])('ends %s by the hang-up, not by a crash', async (_, args, ready) => {
    const p = project();
    if (args[0] === 'watch') {
      const first = p.start(['delegate', '--agent', 'human', '--prompt', 'x']);
      await first.says(/emit completed/);
      first.child.kill('SIGINT');
      await first.ended;
    }
    // `script` is the terminal, and dies with it. A shell hands the hang-up on, as all do, and stays to tell how its child ended.
    writeFileSync(
      join(p.dir, 'shell.sh'),
      `stty rows 30 cols 100
${[process.execPath, stepward, ...args].map(quote).join(' ')} &
trap "kill -HUP $!" HUP
wait $!
wait $!
echo $? > status
`,
    );
    const terminal = spawn('script', ['-qec', 'exec sh shell.sh', '/dev/null'], {
      cwd: p.dir,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      shown += chunk;
    });
    await expect.poll(() => shown, { timeout: 30_000 }).toMatch(new RegExp(ready));
    terminal.kill('SIGKILL');
    const status = () => (existsSync(join(p.dir, 'status')) ? readFileSync(join(p.dir, 'status'), 'utf8') : '');
    await expect.poll(status, { timeout: 30_000 }).toBe('129\n');
    if (args[0] !== 'host') expect((await p.run(['cancel', '@last'])).code).toBe(0);
  });
});
