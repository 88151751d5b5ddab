import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/kernel/ports.ts';
import { cancel, entry, envelope, insert, move, refusal, type Store } from '../support.ts';

const answer: Answer = { verdict: 'take', version: 2, reason: null, phase: 'pending' };

export function testInbox(store: () => Store): void {
  describe('inbox', () => {
    it('keeps a request until it is answered', async () => {
      const { registry, clock } = store();
      const row = await insert(registry, 'a');
      const kept = {
        id: 'r1',
        job: 'a',
        request: envelope('r1', 'a'),
        way: 'spool',
        receivedAt: clock.now(),
        answer: null,
      };
      expect(await registry.deliver(envelope('r1', 'a'), 'a', 'spool')).toEqual(kept);
      expect(await registry.inboxRow('r1')).toEqual(kept);
      expect(await registry.undecided('a')).toEqual([kept]);
      expect(await registry.log({})).toHaveLength(1);
      await registry.commit(row, move({ cause: { inbox: { id: 'r1', answer } } }));
      expect(await registry.inboxRow('r1')).toEqual({ ...kept, answer });
      expect(await registry.undecided('a')).toEqual([]);
      expect(await registry.inboxRow('r2')).toBeUndefined();
    });

    it('gives the row that stands when an id is repeated, whatever else it says', async () => {
      const { registry, clock, open } = store();
      const other = await open();
      const row = await insert(registry, 'a');
      await insert(registry, 'b');
      const first = await registry.deliver(envelope('r1', 'a'), 'a', 'spool');
      clock.advance(10);
      expect(await other.deliver(cancel('r1'), 'b', 'bus')).toEqual(first);
      expect(await registry.undecided('b')).toEqual([]);
      await registry.commit(row, move({ cause: { inbox: { id: 'r1', answer } } }));
      expect(await other.deliver(envelope('r1', 'a', 'completed'), 'a', 'inbox')).toEqual({ ...first, answer });
      expect(await registry.undecided('a')).toEqual([]);
    });

    it('never changes an answer, and answers only requests of the job', async () => {
      const { registry } = store();
      const row = await insert(registry, 'a');
      const other = await insert(registry, 'b');
      await registry.deliver(cancel('r1'), 'a', 'inbox');
      await registry.commit(other, move({ cause: { inbox: { id: 'r1', answer } } }));
      expect(await registry.inboxRow('r1')).toMatchObject({ answer: null });
      await registry.commit(row, move({ cause: { inbox: { id: 'r1', answer } } }));
      const second: Answer = { verdict: 'conflict', version: 2, reason: null, phase: 'failed' };
      await registry.commit({ ...row, version: 2 }, refusal({ cause: { inbox: { id: 'r1', answer: second } } }));
      expect(await registry.inboxRow('r1')).toMatchObject({ answer });
    });

    it('orders by arrival, not by id or number', async () => {
      const { registry } = store();
      await insert(registry, 'a');
      for (const id of ['r3', 'r1', 'r2']) await registry.deliver(envelope(id, 'a'), 'a', 'inbox');
      expect((await registry.undecided('a')).map(({ id }) => id)).toEqual(['r3', 'r1', 'r2']);
    });

    it('names the jobs with undecided requests, each once', async () => {
      const { registry } = store();
      for (const id of ['a', 'b', 'c']) await insert(registry, id);
      expect(await registry.jobsWithUndecided()).toEqual([]);
      for (const [id, job] of [
        ['r1', 'c'],
        ['r2', 'a'],
        ['r3', 'c'],
      ] as const)
        await registry.deliver(cancel(id), job, 'inbox');
      expect((await registry.jobsWithUndecided()).toSorted()).toEqual(['a', 'c']);
    });

    it('refuses a request for a job that does not exist at once, keeps and logs it', async () => {
      const { registry } = store();
      const refused: Answer = { verdict: 'refused', version: 0, reason: 'unknown_job', phase: 'pending' };
      const kept = await registry.deliver(envelope('r1', 'ghost', 'completed'), 'ghost', 'bus');
      expect(kept.answer).toEqual(refused);
      expect(await registry.undecided('ghost')).toEqual([]);
      expect(await registry.jobsWithUndecided()).toEqual([]);
      expect(await registry.log({ job: 'ghost' })).toMatchObject([
        {
          from: 'agent',
          what: 'completed',
          verdict: 'refused',
          reason: 'unknown_job',
          version: 0,
          phase: 'pending',
          data: { id: 'r1', way: 'bus' },
        },
      ]);
      // The first answer stands, and is not logged again, even if the job comes into being.
      await insert(registry, 'ghost');
      expect((await registry.deliver(envelope('r1', 'ghost'), 'ghost', 'inbox')).answer).toEqual(refused);
      await registry.deliver(cancel('r2'), 'nowhere', 'inbox');
      expect(await registry.log({ job: 'nowhere' })).toMatchObject([{ from: 'person', what: 'cancelled' }]);
      await registry.note('ghost', entry({ what: 'end' }));
      expect((await registry.log({ job: 'ghost' })).map(({ what }) => what)).toEqual([
        'completed',
        'registered',
        'end',
      ]);
    });
  });
}
