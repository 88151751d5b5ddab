// kill -9 of a real driver before and after each committed step of a real job, then `resume`: the same outcome as without, the
// agent started exactly once (counted by the agent), no event lost, no process left.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Project, project, registered, stepwardUnderTest } from '../e2e/support.ts';

/** A run without the kill commits this often at least; fewer deaths would mean that the test has lost its teeth. */
const FEWEST_DEATHS = 12;
const SAID = ['started', 'progress', 'completed'];

interface Outcome {
  status: unknown;
  reason: unknown;
  exit: unknown;
  result: string;
  said: Record<string, number>;
  starts: number;
}

async function outcomeOf(p: Project, id: string): Promise<Outcome> {
  const { status, reason, exit } = await p.status(id);
  const taken = (await p.log(id)).filter(({ from, verdict }) => from === 'agent' && verdict === 'take');
  const said = Object.fromEntries(SAID.map((word) => [word, taken.filter(({ what }) => what === word).length]));
  return {
    status,
    reason,
    exit,
    result: readFileSync(join(p.dir, 'result.txt'), 'utf8'),
    said,
    starts: p.starts().length,
  };
}

const UNDISTURBED: Outcome = {
  status: 'completed',
  reason: 'reported',
  exit: 0,
  result: 'done\n',
  said: { started: 1, progress: 1, completed: 1 },
  starts: 1,
};

describe.each(['before', 'after'])('kill -9 %s the N-th commit, then resume', (when) => {
  it('ends as if nothing had happened, for every N', async () => {
    let deaths = 0;
    for (let n = 1; ; n++) {
      const p = project();
      const killed = await p.run(p.delegate('completes', '--timeout', '2m'), {
        bin: stepwardUnderTest,
        env: { STEPWARD_TEST_KILL: `${when}:${n}` },
      });
      const id = registered(killed.stderr);
      if (killed.signal === 'SIGKILL') {
        deaths++;
        const resumed = await p.run(['resume', id]);
        expect(resumed, `resume after ${when}:${n}`).toMatchObject({ code: 0 });
      }
      expect({ n, ...(await outcomeOf(p, id)) }).toEqual({ n, ...UNDISTURBED });
      await p.close();
      if (killed.signal !== 'SIGKILL') break;
    }
    expect(deaths).toBeGreaterThanOrEqual(FEWEST_DEATHS);
  });
});
