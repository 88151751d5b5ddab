import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMarks } from '../../src/transports/marks.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stepward-marks-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const owner = { registry: 'r', job: 'j', attempt: 1, epoch: 1, pid: 2, started: 's' };
const no = async () => false;

it('keeps every target apart, inside its directory, whatever it is called', async () => {
  const marks = createMarks(join(dir, 'marks'));
  const targets = [
    'w1',
    '.',
    '..',
    '../w1',
    'a/b',
    'a%2Fb',
    '',
    ' ',
    '%5%',
    'ü'.repeat(300),
    `${'ü'.repeat(300)}x`,
    '1',
    'w1.dropped',
  ];
  for (const target of targets) expect(await marks.take(target, owner, no), target).toEqual({ mark: 1 });
  for (const target of targets) expect(await marks.take(target, owner, no), target).toBeNull();
  expect(readdirSync(dir)).toEqual(['marks']);
  expect(readdirSync(join(dir, 'marks'), { withFileTypes: true }).every((entry) => entry.isDirectory())).toBe(true);
});

it('knows the newest, and no number that was never given', async () => {
  const marks = createMarks(dir);
  const first = await marks.take('w', owner, no);
  expect(marks.isNewest('w', first!)).toBe(true);
  const second = await marks.take('w', owner, async () => true);
  expect(marks.isNewest('w', first!)).toBe(false);
  expect(marks.isNewest('w', second!)).toBe(true);
  expect(marks.isNewest('w', { mark: 3 })).toBe(false);
  expect(marks.isNewest('other', { mark: 1 })).toBe(false);
});

it('asks again when somebody else was faster', async () => {
  const marks = createMarks(dir);
  await marks.take('w', owner, no);
  const asked: number[] = [];
  const given = await marks.take('w', owner, async (holder) => {
    asked.push(holder.epoch);
    if (holder.epoch === 1) await marks.take('w', { ...owner, epoch: 2 }, async () => true);
    return holder.epoch === 1;
  });
  expect(given).toBeNull();
  expect(asked).toEqual([1, 2]);
});

it('counts numbers, not names, and forgets a mark that a power cut left empty', async () => {
  const marks = createMarks(dir);
  for (let i = 1; i <= 10; i++) await marks.take('w', owner, async () => true);
  expect(await marks.take('w', owner, no)).toBeNull();
  writeFileSync(join(dir, 'w', '10'), '');
  expect(await marks.take('w', owner, no)).toEqual({ mark: 11 });
  expect(existsSync(join(dir, 'w', '11'))).toBe(true);
  expect(readdirSync(join(dir, 'w')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
