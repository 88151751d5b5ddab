// Tab in the real bash, zsh and fish.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fishOffers, type Place, place, shell, stepward } from './shells.ts';

const CLEAR = '\x15';

let at: Place;
/** Two jobs that have ended, the older one first. */
let ids: string[];
beforeEach(() => {
  at = place();
  const agents = { worker: { kind: 'command', command: ['true'] }, writer: { kind: 'human' } };
  writeFileSync(join(at.dir, 'stepward.config.json'), JSON.stringify({ agents }));
  mkdirSync(join(at.dir, 'some folder'));
  writeFileSync(join(at.dir, 'task one.md'), 'x');
  ids = ['first', 'second'].map((task) => {
    stepward(at, 'delegate', '--agent', 'worker', '--prompt', `the ${task} task`);
    return (JSON.parse(stepward(at, 'status', '@last', '--json').stdout) as { id: string }).id;
  });
  expect(new Set(ids).size).toBe(2);
});

/** Enough of the newer id to mean only it. */
const unique = (): string => {
  const [older = '', newer = ''] = ids;
  let length = 1;
  while (older.startsWith(newer.slice(0, length))) length++;
  return newer.slice(0, length);
};

describe.each(['bash', 'zsh'] as const)('Tab in %s', (kind) => {
  it('completes commands, options, agents, jobs, files and directories', async () => {
    const [older = '', newer = ''] = ids;
    const { type } = await shell(kind, at);
    await type('stepward expla\t', 'stepward explain ');
    const commands = await type(`${CLEAR}stepward re\t\t`, /resume[\s\S]*report/);
    expect(commands).toContain('drive jobs whose driver is gone');

    await type(`${CLEAR}stepward delegate --det\t`, '--detach ');
    await type(`${CLEAR}stepward delegate --agent wor\t`, '--agent worker ');
    await type(`${CLEAR}stepward delegate --agent=wri\t`, '--agent=writer ');
    await type(`${CLEAR}stepward host --print-unit sys\t`, '--print-unit systemd ');

    await type(`${CLEAR}stepward logs ${unique()}\t`, `stepward logs ${newer} `);
    await type(`${CLEAR}stepward logs @l\t`, /logs (\\)?@last /);
    const jobs = await type(`${CLEAR}stepward wait \t\t`, /the second task[^$]*the first task/);
    expect(jobs.indexOf(newer)).toBeLessThan(jobs.indexOf(older));

    await type(`${CLEAR}stepward delegate --brief task\t`, 'task\\ one.md ');
    await type(`${CLEAR}stepward delegate --cwd some\t`, 'some\\ folder/');
    await type(`${CLEAR}stepward delegate --registry=some\t`, '--registry=some\\ folder/');
    await type(`${CLEAR}stepward delegate --agent command -- cat task\t`, 'cat task\\ one.md ');
    // In the middle of a line: only what stands before the cursor counts.
    await type(`${CLEAR}stepward  --help${'\x02'.repeat(7)}expl\t\n`, 'Why a job is where it is');
  });
});

describe('Tab in fish', () => {
  it('offers commands, options, agents, jobs, files and directories', () => {
    const [older, newer] = ids;
    expect(fishOffers(at, 'stepward expla')).toEqual(['explain\twhy a job is where it is, and what you can do']);
    expect(fishOffers(at, 'stepward delegate --det')).toEqual([expect.stringMatching(/^--detach\t/)]);
    expect(fishOffers(at, 'stepward delegate --agent w')).toEqual(['worker\tcommand', 'writer\thuman']);
    expect(fishOffers(at, 'stepward delegate --agent=wo')).toEqual(['--agent=worker\tcommand']);
    expect(fishOffers(at, 'stepward host --print-unit ').slice(0, 2)).toEqual(['systemd', 'launchd']);
    expect(fishOffers(at, 'stepward wait ')).toEqual([
      '@last\terror: the second task',
      `${newer}\terror: the second task`,
      `${older}\terror: the first task`,
    ]);
    expect(fishOffers(at, 'stepward delegate --brief ta')).toEqual([expect.stringContaining('task one.md')]);
    expect(fishOffers(at, 'stepward delegate --cwd some')).toEqual([expect.stringContaining('some folder/')]);
    expect(fishOffers(at, 'stepward delegate --cwd=some')).toEqual([expect.stringContaining('--cwd=some folder/')]);
    expect(fishOffers(at, 'stepward delegate --agent command -- cat ta')).toEqual([
      expect.stringContaining('task one.md'),
    ]);
  });
});
