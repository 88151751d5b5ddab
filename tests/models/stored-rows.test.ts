// Level 6, the file that later versions will have to carry over: every row that this version can leave behind, and the files of
// all versions before, go on in this build. While a version is not released its file is written anew with `-u`; never afterwards.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { machineId } from '../../src/kernel/definition.ts';
import { drift, migrate } from '../../src/kernel/migrate.ts';
import { ALL_WAYS, explore, type Node, wayTo } from './graph.ts';
import { endByTime, type Stored, stored } from './stored.ts';
import { placeName } from './view.ts';

const FOLDER = new URL('../../fixtures/models/', import.meta.url);
/** Of a job with all ways: the two kinds of jobs differ in what the bus means to them, not in what a row holds. */
const onePerPlace = (nodes: readonly Node[]): Node[] => [
  ...new Map(nodes.map((node) => [placeName(node.state), node])).values(),
];
const linesOf = (name: string): Stored[] =>
  readFileSync(new URL(name, FOLDER), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Stored);

describe('stored rows', () => {
  it('the fixture holds every row that this version can reach', async () => {
    const rows = [
      ...explore().nodes.map((node) => stored(wayTo(node))),
      ...onePerPlace(explore({ input: ALL_WAYS }).nodes).map((node) => stored(wayTo(node), ALL_WAYS)),
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(text.length).toBeLessThan(2_000_000);
    await expect(`${text}\n`).toMatchFileSnapshot(`../../fixtures/models/${machineId(jobDefinition)}.snapshots.json`);
  });

  const fixtures = readdirSync(FOLDER).filter((name) => /^job@\d+\.snapshots\.json$/.test(name));

  it('there is one for every version up to this one', () => {
    const versions = fixtures.map((name) => Number(/\d+/.exec(name)?.[0])).sort((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: jobDefinition.version }, (_, i) => i + 1));
  });

  it.each(fixtures)('%s: every row goes on in this build and ends by time alone', (name) => {
    const machine = name.split('.')[0] ?? '';
    const old = linesOf(name);
    expect(old.length).toBeGreaterThan(500);
    for (const row of old) {
      const answer = migrate(jobDefinition, { machine, snapshot: row.snapshot }, row.timers, row.outbox);
      expect(answer).not.toBe('unknown');
      const to = typeof answer === 'object' ? answer : row;
      expect(drift(jobDefinition, to.snapshot, to.timers, to.outbox), JSON.stringify(row.snapshot.value)).toEqual([]);
      expect(() => endByTime({ ...to, now: row.now })).not.toThrow();
    }
  });
});
