import { describe, expect, it } from 'vitest';
import { claim, insert, move, refusal, type Store } from '../support.ts';

export function testLog(store: () => Store): void {
  describe('changed since', () => {
    it('names each job with newer entries once, and the newest sequence number to go on from', async () => {
      const { registry } = store();
      const a = await insert(registry, 'a');
      await insert(registry, 'b');
      const first = await registry.changedSince(0);
      expect([...first.jobs].sort()).toEqual(['a', 'b']);
      expect(first.seq).toBe((await registry.log({})).at(-1)?.seq);

      await registry.commit(a, move());
      await registry.commit({ ...a, version: a.version + 1 }, refusal());
      const second = await registry.changedSince(first.seq);
      expect(second.jobs).toEqual(['a']);
      expect(await registry.changedSince(second.seq)).toEqual({ seq: second.seq, jobs: [] });
    });

    it('counts what moves no row: a claim may mean that nobody told the last change', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      const { seq } = await registry.changedSince(0);
      await claim(registry, 'a');
      expect((await registry.changedSince(seq)).jobs).toEqual(['a']);
    });

    it('leaves out entries about jobs that do not exist', async () => {
      const { registry } = store();
      await registry.note('nobody', { from: 'kernel', what: 'seen', verdict: 'take' });
      const { seq, jobs } = await registry.changedSince(0);
      expect(jobs).toEqual([]);
      expect(seq).toBeGreaterThan(0);
    });

    it('gives the newest number also to whoever only asks where the log ends', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      const { seq } = await registry.changedSince(0);
      expect(await registry.changedSince(Number.MAX_SAFE_INTEGER)).toEqual({ seq, jobs: [] });
    });

    it('sees what another connection has committed', async () => {
      const { registry, open } = store();
      const other = await open();
      await insert(registry, 'a');
      expect((await other.changedSince(0)).jobs).toEqual(['a']);
    });
  });
}
