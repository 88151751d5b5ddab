// Whoever dies when: the agent is started exactly once or it is known that nobody can tell, and nothing is left running.
// Launchers and drivers are real processes, killed by SIGKILL.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { identify, isAlive } from '../../src/transports/process.ts';
import type { Doom } from './doomed-driver.ts';
import { eventually } from './eventually.ts';
import { Crash, createStepBook } from './hand.ts';
import { createHeadlessRig, type HeadlessRig } from './headless-rig.ts';

let rig: HeadlessRig;
afterEach(async () => {
  expect(await rig.dispose()).toEqual([]);
});

const lives = (pid: number): boolean => {
  const identity = identify(pid);
  return identity !== null && isAlive(identity);
};

const traceFile = (of: HeadlessRig) => join(of.dir, 'trace');

/** The launcher, made to kill itself right before or after the n-th of its steps on the world, and to list these steps. */
function doomedLauncher(of: HeadlessRig, doom: { when: 'before' | 'after'; step: number }): string {
  const path = join(of.dir, 'doomed-launcher.mjs');
  writeFileSync(
    path,
    `import fs from 'node:fs';
    import childProcess from 'node:child_process';
    import { syncBuiltinESMExports } from 'node:module';
    const append = fs.appendFileSync;
    let step = 0, inside = false;
    const die = () => { process.kill(process.pid, 'SIGKILL'); for (;;) {} };
    const wrap = (module, name) => {
      const real = module[name];
      module[name] = (...args) => {
        if (inside) return real(...args);
        const here = ++step;
        if (here === ${doom.step} && '${doom.when}' === 'before') die();
        inside = true;
        try {
          append(${JSON.stringify(traceFile(of))}, name + ' ' + (typeof args[0] === 'string' ? args[0] : '') + '\\n');
          return real(...args);
        } finally {
          inside = false;
          if (here === ${doom.step} && '${doom.when}' === 'after') die();
        }
      };
    };
    append(${JSON.stringify(join(of.dir, 'doomed.pid'))}, String(process.pid));
    for (const name of ['openSync', 'writeSync', 'fsyncSync', 'closeSync', 'linkSync', 'renameSync', 'rmSync']) wrap(fs, name);
    wrap(childProcess, 'spawn');
    syncBuiltinESMExports();
    await import(${JSON.stringify(pathToFileURL(of.options.launcher).href)});
    `,
  );
  return path;
}

const traceOf = (of: HeadlessRig): string[] =>
  existsSync(traceFile(of)) ? readFileSync(traceFile(of), 'utf8').trim().split('\n') : [];

/** The steps of a launcher that nothing happens to. */
async function recordTrace(): Promise<string[]> {
  rig = createHeadlessRig();
  const transport = rig.transportWith({ launcher: doomedLauncher(rig, { when: 'before', step: 0 }) });
  await transport.inject(rig.place, createStepBook().hand({ driver: 'd1', fence: await rig.newest() }));
  rig.tell('finish', '0');
  await eventually(async () => !(await transport.look(rig.place)).alive);
  await transport.reap(rig.place, await rig.newest());
  return traceOf(rig);
}

/** One life: a driver and its launcher die, a second driver comes, then a third. */
async function live(of: HeadlessRig, doom: { when: 'before' | 'after'; step: number }) {
  const book = createStepBook();
  const doomed = of.transportWith({ launcher: doomedLauncher(of, doom) });
  const first = book.hand({ driver: 'first', fence: await of.newest(), dies: 'after-act' });
  await expect(doomed.inject(of.place, first)).rejects.toThrow(Crash);
  const pidFile = join(of.dir, 'doomed.pid');
  await eventually(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  const launcher = Number(readFileSync(pidFile, 'utf8'));
  await eventually(() => !lives(launcher) || existsSync(join(of.place.runDir, 'child.json')));
  const delivery = await of.second.inject(of.place, book.hand({ driver: 'second', fence: await of.newest() }));
  if (delivery === 'accepted') await eventually(() => of.starts().length > 0);
  const running = await of.second.look(of.place);
  of.tell('finish', '5');
  await eventually(async () => !(await of.second.look(of.place)).alive);
  const { detail } = await of.second.look(of.place);
  const again = await of.transport.inject(of.place, book.hand({ driver: 'third', fence: await of.newest() }));
  // It died where it was told to, and not of something else.
  await eventually(() => !lives(launcher));
  expect(traceOf(of)).toHaveLength(doom.when === 'after' ? doom.step : doom.step - 1);
  const fence = await of.newest();
  await of.second.reap(of.place, fence);
  const after = await of.second.look(of.place);
  return { delivery, again, running, detail, after, starts: of.starts().length };
}

describe('the launcher dies', () => {
  it('before and after each of its steps, with its driver', async () => {
    const trace = await recordTrace();
    expect(await rig.dispose()).toEqual([]);
    const mark = 1 + trace.findIndex((line) => /^linkSync .*started/.test(line));
    const spawned = 1 + trace.findIndex((line) => line.startsWith('spawn '));
    const told = 1 + trace.findIndex((line) => /^renameSync .*exit\.json/.test(line));
    expect(mark).toBeGreaterThan(1);
    expect(spawned).toBeGreaterThan(mark);
    expect(told).toBeGreaterThan(spawned);

    const seen = new Set<string>();
    for (let step = 1; step <= trace.length; step++) {
      for (const when of ['before', 'after'] as const) {
        rig = createHeadlessRig();
        const life = await live(rig, { when, step });
        const at = `${when} step ${step}: ${trace[step - 1]}`;
        const happened = (which: number) => step > which || (step === which && when === 'after');
        const phase = happened(spawned) ? 'spawned' : happened(mark) ? 'marked' : 'nothing';
        seen.add(phase);
        if (phase === 'marked') {
          // Nobody may start it any more, and nobody can tell whether it was: unknown is the truth.
          expect(life, at).toMatchObject({ delivery: 'unknown', again: 'unknown', starts: 0 });
          expect(life.detail, at).toMatch(/launcher died before it told/);
        } else {
          expect(life, at).toMatchObject({ delivery: 'accepted', again: 'accepted', starts: 1 });
          expect(life.running, at).toMatchObject({ alive: true, nonce: true });
          const knowsExit = phase === 'nothing' || happened(told);
          const expected = knowsExit
            ? 'exited with code 5'
            : 'launcher died before it told|gone without an exit status';
          expect(life.detail, at).toMatch(new RegExp(expected));
        }
        expect(life.after, at).toMatchObject({ alive: false, clean: true });
        expect(await rig.dispose(), at).toEqual([]);
      }
    }
    expect([...seen]).toEqual(['nothing', 'marked', 'spawned']);
    rig = createHeadlessRig();
  }, 300_000);

  describe('right after the spawn, so that nobody recorded the agent', () => {
    const childFile = () => join(rig.place.runDir, 'child.json');

    /** An agent runs; its launcher and its driver are dead, and nobody has looked since. */
    async function orphan() {
      const spawned = 1 + (await recordTrace()).findIndex((line) => line.startsWith('spawn '));
      expect(await rig.dispose()).toEqual([]);
      rig = createHeadlessRig();
      const book = createStepBook();
      const doomed = rig.transportWith({ launcher: doomedLauncher(rig, { when: 'after', step: spawned }) });
      const first = book.hand({ driver: 'first', fence: await rig.newest(), dies: 'after-act' });
      await expect(doomed.inject(rig.place, first)).rejects.toThrow(Crash);
      await eventually(() => rig.log('out') !== '');
      const agent = identify(rig.starts()[0]!)!;
      expect(isAlive(agent)).toBe(true);
      expect(existsSync(childFile())).toBe(false);
      const inject = async () =>
        rig.second.inject(rig.place, book.hand({ driver: 'second', fence: await rig.newest() }));
      return { agent, inject };
    }

    for (const stop of ['interrupt', 'reap'] as const) {
      it(`${stop} finds it`, async () => {
        const { agent } = await orphan();
        await rig.second[stop](rig.place, await rig.newest());
        await eventually(() => !isAlive(agent));
        await rig.second.reap(rig.place, await rig.newest());
      });
    }

    it('a look finds it', async () => {
      const { agent } = await orphan();
      expect(await rig.second.look(rig.place)).toMatchObject({ alive: true, nonce: true, clean: false, hold: 'busy' });
      expect(JSON.parse(readFileSync(childFile(), 'utf8'))).toEqual(agent);
      await rig.second.reap(rig.place, await rig.newest());
    });

    it('its output proves that it ran, even if it is over', async () => {
      const { agent, inject } = await orphan();
      rig.tell('finish', '0');
      await eventually(() => !isAlive(agent));
      expect(await inject()).toBe('accepted');
      const seen = await rig.second.look(rig.place);
      expect(seen).toMatchObject({ alive: false, nonce: true, detail: 'the process is gone without an exit status' });
      expect(rig.starts()).toHaveLength(1);
    });
  });
});

describe('the driver dies', () => {
  const script = fileURLToPath(new URL('./doomed-driver.ts', import.meta.url));

  for (const dies of ['after-mark', 'after-act'] as const) {
    it(`${dies.replace('-', ' the ')}: its successor finds the agent started exactly once`, async () => {
      rig = createHeadlessRig();
      const { marksDir, launcher } = rig.options;
      const doom: Doom = { launcher, marksDir, place: rig.place, dies };
      const driver = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(doom)], { stdio: 'inherit' });
      const signal = await new Promise((resolve) => driver.once('exit', (_, by) => resolve(by)));
      expect(signal).toBe('SIGKILL');

      const book = createStepBook();
      const dead = book.hand({ driver: 'doomed', fence: await rig.newest(), dies: 'after-mark' });
      await expect(dead.once({ name: 'spawn', act: () => {}, limitMs: 1 })).rejects.toThrow(Crash);
      const successors = [rig.transport, rig.second, rig.transport].map(async (transport) =>
        transport.inject(rig.place, book.hand({ driver: 'successor', fence: await rig.newest() })),
      );
      // Each of them took the mark from the one before; those that lost it may not claim to know.
      const deliveries = await Promise.all(successors);
      expect(deliveries).not.toContain('rejected');
      const last = book.hand({ driver: 'last', fence: await rig.newest() });
      expect(await rig.second.inject(rig.place, last)).toBe('accepted');
      await eventually(() => rig.starts().length === 1);
      rig.tell('finish', '0');
      await eventually(async () => !(await rig.transport.look(rig.place)).alive);
      expect((await rig.transport.look(rig.place)).detail).toBe('exited with code 0');
      expect(rig.starts()).toHaveLength(1);
      await rig.transport.reap(rig.place, await rig.newest());
    });
  }
});
