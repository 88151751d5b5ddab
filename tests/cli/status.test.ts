import { describe, expect, it } from 'vitest';
import { REASONS } from '../../machines/job/vocabulary.ts';
import { nextSteps } from '../../src/cli/next.ts';
import { statusObject } from '../../src/cli/status.ts';
import { tokenOf } from '../../src/cli/token.ts';
import { FAULT_LIMIT } from '../../src/kernel/admit.ts';
import type { Row } from '../../src/kernel/ports.ts';
import { beginJobs } from './registry.ts';

/** A real row, moved to where the test needs it. */
async function rowThat(is: Partial<Row>): Promise<Row> {
  const registry = await beginJobs('abc1');
  return { ...(await registry.load('abc1'))!, ...is };
}

const timeout = { status: 'failed', reason: 'deadline_timeout' } as const;
const commands = (row: Row, driven: boolean) => nextSteps(row, driven).map(({ command }) => command);

describe('status', () => {
  it('does not tell an outcome that is still provisional', async () => {
    const row = await rowThat({ phase: 'finalizing', state: 'finalizing.draining', outcome: timeout });
    expect(statusObject(row, [])).toMatchObject({ status: 'running', exit: null, reason: null });
    expect(statusObject({ ...row, phase: 'failed', state: 'failed' }, [])).toMatchObject({
      status: 'error',
      exit: 2,
      reason: 'deadline_timeout',
    });
  });

  it('knows an exit code for every way to end', async () => {
    for (const reason of REASONS) {
      const row = await rowThat({ phase: 'failed', outcome: { status: 'failed', reason } });
      expect([1, 2, 3]).toContain(statusObject(row, []).exit);
    }
  });

  it('has another token for another attempt', async () => {
    const row = await rowThat({});
    expect(tokenOf(row)).toBe('abc1.1');
    expect(tokenOf({ ...row, attempt: 2 })).not.toBe(tokenOf(row));
  });
});

describe('what a person can do next', () => {
  it('depends on who drives an open job', async () => {
    const row = await rowThat({});
    expect(commands(row, false)).toEqual(['stepward resume abc1', 'stepward cancel abc1']);
    expect(commands(row, true)).toEqual(['stepward logs -f abc1', 'stepward wait abc1', 'stepward cancel abc1']);
  });

  it('is to clean up before anything else', async () => {
    const row = await rowThat({ phase: 'failed', outcome: timeout, cleanup: 'open' });
    expect(commands(row, false)).toEqual(['stepward resume abc1', 'stepward logs abc1']);
    expect(commands(row, true)).toEqual(['stepward logs abc1']);
    expect(commands({ ...row, cleanup: 'done' }, false)[0]).toBe('stepward redispatch abc1 && stepward resume abc1');
  });

  it('is nothing but the end for a row that no build here can continue', async () => {
    const row = await rowThat({ faults: FAULT_LIMIT, faultReason: 'no logic for x' });
    expect(commands(row, false)).toEqual(['stepward cancel abc1', 'stepward logs abc1']);
  });

  it('is the answer, where a person is the agent', async () => {
    const row = await rowThat({ phase: 'injected', state: 'injected.hidden' });
    expect(commands(row, true)[0]).toMatch(/emit completed --job abc1 --attempt 1 --report /);
    expect(commands({ ...row, state: 'injected.submitting.holding' }, true)[0]).toBe('stepward logs -f abc1');
  });
});
