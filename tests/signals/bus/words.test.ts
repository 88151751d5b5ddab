// The small parts that need no broker: topics, users, lengths, receipts, trouble.
import { describe, expect, it } from 'vitest';
import { createFrames } from '../../../src/signals/bus/frames.ts';
import { makeReceipt, readReceipt } from '../../../src/signals/bus/receipts.ts';
import {
  eventsFilter,
  eventsTopic,
  hostTopic,
  isTopicPrefix,
  parseTopic,
  receiptsTopic,
  stateTopic,
} from '../../../src/signals/bus/topics.ts';
import { createTroubles } from '../../../src/signals/bus/troubles.ts';
import { mayPublish, maySubscribe, type User, userOf } from '../../../src/signals/bus/users.ts';

describe('topics', () => {
  it('are frozen words, and are read back', () => {
    const made = [eventsTopic('p', 'j', 3), receiptsTopic('p', 'j', 3), stateTopic('p', 'j'), hostTopic('p', 'h')];
    expect(made).toEqual(['p/v1/jobs/j/3/events', 'p/v1/jobs/j/3/receipts', 'p/v1/jobs/j/state', 'p/v1/hosts/h']);
    expect(made.map((topic) => parseTopic('p', topic))).toEqual([
      { kind: 'events', job: 'j', attempt: 3 },
      { kind: 'receipts', job: 'j', attempt: 3 },
      { kind: 'state', job: 'j' },
      { kind: 'host', host: 'h' },
    ]);
    expect(eventsFilter('a/b', 'j')).toBe('a/b/v1/jobs/j/+/events');
  });

  it.each([
    'p/v2/jobs/j/3/events',
    'q/v1/jobs/j/3/events',
    'p/v1/jobs/j/3/events/x',
    'p/v1/jobs/j/03/events',
    'p/v1/jobs/j/0/events',
    'p/v1/jobs/j/1e3/events',
    'p/v1/jobs/j/99999999999999999999/events',
    'p/v1/jobs/+/3/events',
    'p/v1/jobs//3/events',
    'p/v1/jobs/../3/events',
    'p/v1/jobs/j/3/other',
    'p/v1/jobs/j',
    'p/v1/hosts/a/b',
    'p/v1/hosts/+',
    'p/v1/jobs/j/states',
    '',
  ])('%s is none', (topic) => expect(parseTopic('p', topic)).toBeNull());

  it.each(['', '/', 'a/', '/a', 'a//b', 'a/+', 'a/#', '$SYS', 'a b', 'a\0', 'x'.repeat(201), null])(
    '%j is no prefix',
    (prefix) => expect(isTopicPrefix(prefix)).toBe(false),
  );
});

describe('the users of the embedded broker', () => {
  const passwords = { driver: 'd'.repeat(40), agent: 'a'.repeat(40), watcher: 'w'.repeat(40) };

  it('are let in by their own password only', () => {
    for (const user of ['driver', 'agent', 'watcher'] as const) {
      expect(userOf(passwords, user, Buffer.from(passwords[user]))).toBe(user);
    }
    const wrong: [string | undefined, string | undefined][] = [
      ['agent', passwords.driver],
      ['agent', ''],
      ['agent', undefined],
      ['agent', `${passwords.agent}x`],
      [undefined, passwords.agent],
      ['root', passwords.driver],
      ['__proto__', passwords.driver],
    ];
    for (const [name, word] of wrong) {
      expect(userOf(passwords, name, word === undefined ? undefined : Buffer.from(word))).toBeNull();
    }
  });

  const publishes: [User, string, boolean, boolean][] = [
    ['driver', 'p/v1/jobs/j/state', true, true],
    ['driver', 'p/v1/hosts/h', true, true],
    ['driver', 'p/v2/x', false, false],
    ['driver', 'other/v1/x', false, false],
    ['driver', '$SYS/x', false, false],
    ['agent', 'p/v1/jobs/j/1/events', false, true],
    ['agent', 'p/v1/jobs/j/1/events', true, false],
    ['agent', 'p/v1/jobs/j/1/receipts', false, false],
    ['agent', 'p/v1/jobs/j/state', false, false],
    ['agent', 'p/v1/hosts/h', false, false],
    ['watcher', 'p/v1/jobs/j/1/events', false, false],
  ];
  it.each(publishes)('%s publishes on %s (retained: %s): %s', (user, topic, retain, may) =>
    expect(mayPublish('p', user, { topic, retain, size: 10 })).toBe(may),
  );

  it('an agent publishes nothing longer than an envelope may be', () => {
    const topic = 'p/v1/jobs/j/1/events';
    expect(mayPublish('p', 'agent', { topic, retain: false, size: 64 * 1024 })).toBe(true);
    expect(mayPublish('p', 'agent', { topic, retain: false, size: 64 * 1024 + 1 })).toBe(false);
  });

  const subscribes: [User, string, boolean][] = [
    ['driver', 'p/v1/#', true],
    ['driver', 'p/v1/jobs/j/+/events', true],
    ['driver', '#', false],
    ['driver', '+/v1/#', false],
    ['agent', 'p/v1/jobs/j/1/receipts', true],
    ['agent', 'p/v1/jobs/j/+/receipts', true],
    ['agent', 'p/v1/jobs/+/1/receipts', false],
    ['agent', 'p/v1/jobs/j/1/events', false],
    ['agent', 'p/v1/jobs/j/#', false],
    ['agent', 'p/v1/jobs/j/state', false],
    ['agent', '#', false],
    ['watcher', 'p/v1/jobs/+/state', true],
    ['watcher', 'p/v1/jobs/j/state', true],
    ['watcher', 'p/v1/hosts/+', true],
    ['watcher', 'p/v1/hosts/h', true],
    ['watcher', 'p/v1/jobs/#', false],
    ['watcher', 'p/v1/jobs/+/+/events', false],
    ['watcher', 'p/v1/+/h', false],
    ['watcher', 'q/v1/hosts/+', false],
    ['watcher', '$SYS/#', false],
  ];
  it.each(subscribes)('%s subscribes to %s: %s', (user, filter, may) =>
    expect(maySubscribe('p', user, filter)).toBe(may),
  );
});

describe('packets', () => {
  const packet = (length: number): Buffer => {
    const head = [0x30];
    for (let left = length; ; ) {
      const rest = left >> 7;
      head.push((left & 0x7f) | (rest > 0 ? 0x80 : 0));
      left = rest;
      if (left === 0) break;
    }
    return Buffer.concat([Buffer.from(head), Buffer.alloc(length, 0xff)]);
  };
  const all = Buffer.concat([0, 1, 127, 128, 1000].map(packet));

  it.each([1, 2, 3, 7, 128, 5000])('up to the limit pass, in pieces of %i bytes', (size) => {
    const fits = createFrames(1000);
    for (let at = 0; at < all.length; at += size) expect(fits(all.subarray(at, at + size))).toBe(true);
  });

  it('one byte longer do not, before they have come', () => {
    expect(createFrames(1000)(packet(1001).subarray(0, 3))).toBe(false);
    const fits = createFrames(1000);
    expect(fits(all)).toBe(true);
    expect(fits(packet(1001).subarray(0, 3))).toBe(false);
  });

  it('nor does a length that never ends', () => {
    expect(createFrames(1 << 30)(Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80]))).toBe(false);
  });
});

describe('a receipt', () => {
  const envelope = { id: 'e1', job: 'j', attempt: 1 };
  const answer = { verdict: 'refused', version: 7, reason: 'not_now', phase: 'completed' } as const;

  it('is read back by whoever has the key', () => {
    for (const given of [answer, null]) {
      const receipt = makeReceipt(envelope, given, 0, 'key');
      expect(readReceipt(JSON.stringify(receipt), envelope, 'key')?.answer).toEqual(given);
    }
  });

  it('is none with another key, of another envelope, or changed', () => {
    const receipt = makeReceipt(envelope, answer, 0, 'key');
    const read = (value: object, of = envelope, key = 'key') => readReceipt(JSON.stringify(value), of, key);
    expect(read(receipt, envelope, 'other')).toBeNull();
    expect(read(receipt, { ...envelope, id: 'e2' })).toBeNull();
    expect(read(receipt, { ...envelope, attempt: 2 })).toBeNull();
    expect(read(receipt, { ...envelope, job: 'k' })).toBeNull();
    expect(read({ ...receipt, answer: null })).toBeNull();
    expect(read({ ...receipt, more: 1 })).toBeNull();
    expect(read({ ...receipt, v: 2 })).toBeNull();
    for (const text of ['', '{', 'null', '[]', `"${'x'.repeat(5000)}"`])
      expect(readReceipt(text, envelope, 'key')).toBeNull();
  });

  it('is none without a verdict that there is', () => {
    const odd = makeReceipt(envelope, { ...answer, verdict: 'accepted' as 'take' }, 0, 'key');
    expect(readReceipt(JSON.stringify(odd), envelope, 'key')).toBeNull();
  });
});

describe('trouble', () => {
  it('is told when it begins, when it changes, and when it is over', () => {
    const told: string[] = [];
    const troubles = createTroubles((sentence) => told.push(sentence));
    troubles.over('a', 'fine');
    for (const sentence of ['x', 'x', 'y', 'y', 'x']) troubles.begin('a', sentence);
    troubles.begin('b', 'x');
    troubles.over('a', 'fine');
    troubles.over('a', 'fine');
    troubles.drop('b');
    troubles.over('b', 'fine');
    expect(told).toEqual(['x', 'y', 'x', 'x', 'fine']);
  });
});
