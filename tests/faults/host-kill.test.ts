// kill -9 of a host before and after each committed step of a job that was given to it, then another host: the same outcome as
// without, the agent started exactly once, no event lost, no process left.
import { describe, expect, it } from 'vitest';
import { startHost, stop } from '../e2e/host-support.ts';
import { project, registered, stepwardUnderTest } from '../e2e/support.ts';

/** A run without the kill commits this often at least; fewer deaths would mean that the test has lost its teeth. */
const FEWEST_DEATHS = 12;
const SAID = ['started', 'progress', 'completed'];

describe.each(['before', 'after'])('kill -9 of the host %s its N-th commit, then another host', (when) => {
  it('ends as if nothing had happened, for every N', async () => {
    let deaths = 0;
    for (let n = 1; ; n++) {
      const p = project();
      const env = { STEPWARD_TEST_KILL: `${when}:${n}` };
      const host = await startHost(p, [], { bin: stepwardUnderTest, env });
      const given = await p.run(p.delegate('completes', '--detach', '--timeout', '2m'));
      expect(given.code, given.stderr).toBe(0);
      const id = registered(given.stderr);
      const isOver = async () => (await p.status(id)).cleanup === 'done';
      // It dies or it does the whole job; where `--detach` sees it die, it has started the next one itself.
      const died = await Promise.race([
        host.ended.then(({ signal }) => signal === 'SIGKILL'),
        expect
          .poll(isOver, { timeout: 60_000 })
          .toBe(true)
          .then(() => host.child.signalCode === 'SIGKILL'),
      ]);
      if (died) {
        deaths++;
        const next = p.start(['host', '--until-idle', '500ms']);
        expect((await p.run(['wait', id])).code, `${when}:${n}`).toBe(0);
        await expect.poll(isOver, { timeout: 60_000 }).toBe(true);
        expect([0, 4]).toContain((await next.ended).code);
      }
      const { status, reason, exit } = await p.status(id);
      const taken = (await p.log(id)).filter(({ from, verdict }) => from === 'agent' && verdict === 'take');
      const said = SAID.map((word) => taken.filter(({ what }) => what === word).length);
      const outcome = { n, status, reason, exit, said, starts: p.starts().length };
      expect(outcome).toEqual({ n, status: 'completed', reason: 'reported', exit: 0, said: [1, 1, 1], starts: 1 });
      await stop(p);
      await p.close();
      if (!died) break;
    }
    expect(deaths).toBeGreaterThanOrEqual(FEWEST_DEATHS);
  });
});
