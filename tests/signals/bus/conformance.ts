// What must hold whichever broker carries the bus, and whoever runs it.
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { emitMain } from '../../../src/cli/emit.ts';
import { prepareAttempt } from '../../../src/signals/attempt.ts';
import type { BusOptions } from '../../../src/signals/bus/bus.ts';
import { readReceipt } from '../../../src/signals/bus/receipts.ts';
import { eventsFilter, eventsTopic, receiptsTopic, stateTopic } from '../../../src/signals/bus/topics.ts';
import type { AgentAddress } from '../../../src/signals/bus/types.ts';
import { watchTopics } from '../../../src/signals/bus/watch.ts';
import { makeEnvelope, requestOf } from '../../../src/signals/envelope.ts';
import { newKey } from '../../../src/signals/signature.ts';
import { writeSpool } from '../../../src/signals/spool.ts';
import { run } from '../../cli/agent-run.ts';
import { driven, JOB, until, type World } from '../world.ts';
import { hearing, logOf, openBus, sign, type TestedBus, voice } from './support.ts';

export interface Place {
  settings: BusOptions['settings'];
  /** May publish and subscribe everything below the prefix. */
  strong(): Promise<AgentAddress>;
}
type Start = (world: World) => Promise<Place>;

interface Ready extends World {
  bus: TestedBus;
  agent: AgentAddress;
  place: Place;
  driver: Awaited<ReturnType<typeof driven>>['driver'];
}

export function testBus(name: string, start: Start): void {
  async function ready(): Promise<Ready> {
    const world = await driven();
    const place = await start(world);
    const bus = openBus(world, { settings: place.settings });
    await hearing(bus);
    const agent = bus.agentAddress();
    if (!agent) throw new Error('the bus is up and has no address');
    return { ...world, place, bus, agent };
  }

  const ears = ({ agent }: Ready, attempt = 1) => voice(agent, receiptsTopic(agent.prefix, JOB, attempt));
  const inboxRows = async ({ registry }: World, id: string) => registry.inboxRow(id);
  /** A driver claims the row and moves it to attempt 2, with a key of its own. */
  async function redispatch(world: Ready): Promise<void> {
    await until(async () => (await world.row()).cleanup === 'done');
    await world.driver.stop();
    const event = { type: 'redispatch' as const, attempt: 2 };
    await world.registry.deliver({ from: 'person', id: 'again', event, by: 'test' }, JOB, 'inbox');
    await world.drive();
    await until(async () => {
      const { attempt, phase } = await world.row();
      return attempt === 2 && phase === 'injected';
    });
  }

  describe(`the bus by ${name}`, () => {
    it('an envelope is in the inbox once, decided, and its sender gets a signed receipt, as often as it asks', async () => {
      const world = await ready();
      const agent = await ears(world);
      const envelope = await sign(world);
      await agent.say(envelope);
      await until(() => agent.receipts(envelope).length === 1);
      const row = await inboxRows(world, envelope.id);
      expect(row).toMatchObject({ way: 'bus', answer: { verdict: 'take' } });
      const receipt = readReceipt(JSON.stringify(agent.receipts(envelope)[0]), envelope, await world.key());
      expect(receipt?.answer).toEqual(row?.answer);
      await agent.say(envelope);
      await until(() => agent.receipts(envelope).length === 2);
      expect(agent.receipts(envelope)[1]?.answer).toEqual(row?.answer);
      expect(await logOf(world, 'progress')).toMatchObject([{ verdict: 'take', version: row?.answer?.version }]);
    });

    it('each envelope by three ways at once, in any order, is accepted once', async () => {
      const world = await ready();
      const agent = await ears(world);
      const all = await Promise.all(Array.from({ length: 6 }, () => sign(world)));
      await Promise.all(
        all.map(async (envelope, index) => {
          const ways = [
            () => world.registry.deliver(requestOf(envelope), JOB, 'inbox'),
            () => agent.say(envelope),
            () => writeSpool(world.paths, envelope),
          ];
          for (let n = 0; n < 3; n++) await ways[(index + (index < 3 ? n : 2 * n)) % 3]?.();
        }),
      );
      for (const envelope of all) await until(() => agent.receipts(envelope)[0]);
      const taken = await logOf(world, 'progress');
      expect(taken.map(({ verdict }) => verdict)).toEqual(all.map(() => 'take'));
      for (const envelope of all) {
        const { answer } = (await inboxRows(world, envelope.id)) ?? {};
        expect(agent.receipts(envelope)[0]?.answer).toEqual(answer);
      }
    });

    it('emit of an agent that has no other way: committed, with the version, and refused as the table says', async () => {
      const world = await ready();
      const { agent: bus, cwd, registryDir } = world;
      const whole = { cwd, job: JOB, attempt: 1, key: await world.key(), registryDir, brief: '', command: 'stepward' };
      const paths = await prepareAttempt({ ...whole, ways: ['bus'], bus });
      await writeFile(paths.report, '# Done\n');
      const emit = (...argv: string[]) => run(emitMain, argv, { cwd, env: { STEPWARD_ENV: paths.env } });
      const news = await emit('progress', '--detail', 'half way', '--json');
      expect(news).toMatchObject({ code: 0, err: '' });
      const told = JSON.parse(news.out) as { id: string };
      const version = (await inboxRows(world, told.id))?.answer?.version;
      expect(told).toMatchObject({
        outcome: 'committed',
        version,
        way: 'bus',
        message: `committed as version ${version}`,
      });
      expect(await emit('completed', '--report', paths.report)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^committed as version \d+\n$/),
      });
      expect((await world.reach('completed')).outcome).toEqual({ status: 'completed', reason: 'reported' });
    });

    it('after a redispatch events of attempt 1 are refused, retained or replayed, where a naive subscriber believes them', async () => {
      const world = await ready();
      const { prefix } = world.agent;
      const strong = await voice(await world.place.strong());
      const old = await sign(world, { type: 'failed', detail: 'the end of attempt 1' });
      await strong.say(old, { retain: true });
      await world.reach('failed');
      await redispatch(world);

      // The original's monitor: subscribes, and takes the first end that it sees.
      const naive = await voice(await world.place.strong(), eventsFilter(prefix, JOB));
      const believed = await until(() => naive.heard[0]);
      expect(believed).toMatchObject({ topic: eventsTopic(prefix, JOB, 1), retain: true });
      expect(JSON.parse(believed.payload)).toMatchObject({ attempt: 1, event: { type: 'failed' } });

      // Ours: subscribes anew, gets the retained one, and then the same live, and in the clothes of attempt 2.
      world.bus.unfollow(JOB);
      await hearing(world.bus);
      await strong.say(old);
      await strong.say(old, { topic: eventsTopic(prefix, JOB, 2) });
      await strong.say({ ...old, attempt: 2 });
      const refusals = await until(async () => {
        const log = await world.registry.log({ job: JOB });
        const refused = log.filter(
          ({ from, verdict, attempt }) => from === 'agent' && verdict === 'refused' && attempt === 2,
        );
        return refused.length >= 3 ? refused : null;
      });
      const reasons = refusals.map(({ reason }) => reason?.split(':')[0]).sort();
      expect(reasons).toEqual(['bad_signature', 'other_attempt', 'other_attempt']);
      expect(await world.row()).toMatchObject({ attempt: 2, phase: 'injected' });

      const agent = await ears(world, 2);
      const envelope = await sign(world, { type: 'failed', detail: 'the end of attempt 2' });
      await agent.say(envelope);
      await world.reach('failed');
      await strong.link.publish(eventsTopic(prefix, JOB, 1), '', true);
    });

    it('a password without the key completes nothing, and spoils no true envelope', async () => {
      const world = await ready();
      const [agent, { prefix }] = [await ears(world), world.agent];
      const honest = await sign(world, { type: 'failed', detail: 'no licence' });
      const [otherKey, sig] = [newKey(), 'f'.repeat(64)];
      const event = { type: 'completed', manifest: 'a'.repeat(64) };
      const message = { job: JOB, attempt: 1, seq: 1, event, now: 0 };
      const forged = { ...makeEnvelope(message, otherKey), sig };
      const { sig: _, ...unsigned } = honest;
      await agent.say(forged);
      await agent.say(makeEnvelope(message, otherKey));
      await agent.say({ ...honest, event: { ...honest.event, detail: 'changed' } });
      await agent.say({ ...honest, attempt: 2 });
      await agent.say(makeEnvelope({ ...message, job: 'job2' }, otherKey), { topic: eventsTopic(prefix, JOB, 1) });
      await agent.link.publish(eventsTopic(prefix, JOB, 1), JSON.stringify(unsigned), false);
      await agent.link.publish(eventsTopic(prefix, JOB, 1), 'not even JSON', false);
      const refused = await until(async () => {
        const log = (await world.registry.log({ job: JOB })).filter(({ verdict }) => verdict === 'refused');
        return log.length >= 7 ? log : null;
      });
      const reasons = refused.map(({ reason }) => reason?.split(':')[0]).sort();
      expect(reasons).toEqual([
        '`sig` is missing or not what it must be',
        'bad_signature',
        'bad_signature',
        'bad_signature',
        'not JSON',
        'other_attempt',
        'other_attempt',
      ]);
      expect((await world.row()).phase).toBe('injected');
      // The true one, whose id two of them bore.
      await agent.say(honest);
      await until(() => agent.receipts(honest)[0]?.answer?.verdict === 'take');
      expect((await world.reach('failed')).outcome?.reason).toBe('agent_failed');
    });

    it('what is unfollowed is not taken any more, and what is followed again is', async () => {
      const world = await ready();
      const agent = await ears(world);
      world.bus.unfollow(JOB);
      expect(world.bus.hears(JOB)).toBe(false);
      world.bus.follow('other', () => {});
      await until(() => world.bus.hears('other'));
      const [first, second] = [await sign(world), await sign(world)];
      await agent.say(first);
      let news = 0;
      world.bus.follow(JOB, () => news++);
      await until(() => world.bus.hears(JOB));
      await agent.say(second);
      await until(() => agent.receipts(second)[0]);
      expect(await inboxRows(world, first.id)).toBeUndefined();
      expect(news).toBe(1);
    });

    it('a state is retained for whoever looks later, from an address alone', async () => {
      const world = await ready();
      const { prefix } = world.agent;
      const strong = await world.place.strong();
      // A broker of our own sleeps until somebody comes.
      await voice(strong);
      await until(() => world.bus.generation() > 0);
      await world.bus.publish(stateTopic(prefix, JOB), '{"v":1}', { retain: true });
      const stop = new AbortController();
      const { protocol: _, ...address } = strong;
      const seen: string[] = [];
      const watching = watchTopics(address, prefix, ['jobs/+/state'], ({ payload }) => seen.push(payload), stop.signal);
      await until(() => seen[0]);
      await world.bus.publish(stateTopic(prefix, JOB), '{"v":2}', { retain: true });
      await until(() => seen[1]);
      stop.abort();
      await watching;
      expect(seen).toEqual(['{"v":1}', '{"v":2}']);
      await world.bus.publish(stateTopic(prefix, JOB), '', { retain: true });
    });
  });
}
