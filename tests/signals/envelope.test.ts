import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentEvent } from '../../machines/job/events.ts';
import type { Envelope } from '../../src/kernel/ports.ts';
import { cutDetail, DETAIL_LIMIT, EnvelopeError, makeEnvelope, parseEnvelope } from '../../src/signals/envelope.ts';
import { newKey, verifyEnvelope } from '../../src/signals/signature.ts';

const key = newKey();
const make = (event: Envelope['event'] = { type: 'progress', detail: 'half way' }) =>
  makeEnvelope({ job: 'job1', attempt: 2, seq: 7, event, now: 1_700_000_000_000 }, key);

describe('an envelope', () => {
  it('is signed over everything it says, and reads back as it was', () => {
    const envelope = make();
    expect(envelope).toMatchObject({ v: 1, job: 'job1', attempt: 2, seq: 7, at: '2023-11-14T22:13:20.000Z' });
    expect(verifyEnvelope(envelope, key)).toBe(true);
    const back = parseEnvelope(JSON.stringify(envelope));
    expect(back).toEqual(envelope);
    expect(verifyEnvelope(back, key)).toBe(true);
  });

  it('keeps its signature when its members come in another order', () => {
    const reordered = Object.fromEntries(Object.entries(make()).reverse());
    expect(verifyEnvelope(parseEnvelope(JSON.stringify(reordered)), key)).toBe(true);
  });

  it('has an id and a key of its own each time', () => {
    expect(make().id).not.toBe(make().id);
    expect(newKey()).not.toBe(newKey());
    expect(newKey()).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, (envelope: Envelope) => Envelope]>([
    ['the id', (e) => ({ ...e, id: 'another' })],
    ['the job', (e) => ({ ...e, job: 'job2' })],
    ['the attempt', (e) => ({ ...e, attempt: 3 })],
    ['the sequence number', (e) => ({ ...e, seq: 8 })],
    ['the time', (e) => ({ ...e, at: '2024-01-01T00:00:00.000Z' })],
    ['the event', (e) => ({ ...e, event: { ...e.event, type: 'completed' } })],
    ['the detail', (e) => ({ ...e, event: { ...e.event, detail: 'done' } })],
    ['a manifest added', (e) => ({ ...e, event: { ...e.event, manifest: 'a'.repeat(64) } })],
    ['one digit of the signature', (e) => ({ ...e, sig: e.sig.replace(/^./, (d) => (d === '0' ? '1' : '0')) })],
    ['a shorter signature', (e) => ({ ...e, sig: e.sig.slice(2) })],
    ['no signature', (e) => ({ ...e, sig: '' })],
    ['something that cannot be signed', (e) => ({ ...e, event: { type: 'progress', detail: '\ud800' } })],
  ])('does not verify with %s changed', (_, alter) => {
    expect(verifyEnvelope(alter(make()), key)).toBe(false);
  });

  it('does not verify with the key of another attempt', () => {
    expect(verifyEnvelope(make(), newKey())).toBe(false);
  });
});

describe('a detail', () => {
  it('is cut between characters, never inside a surrogate pair', () => {
    const even = '😀'.repeat(DETAIL_LIMIT);
    expect(cutDetail(even)).toBe('😀'.repeat(DETAIL_LIMIT / 2));
    const odd = `x${even}`;
    expect(cutDetail(odd)).toBe(`x${'😀'.repeat(DETAIL_LIMIT / 2 - 1)}`);
    expect(cutDetail('y'.repeat(DETAIL_LIMIT))).toHaveLength(DETAIL_LIMIT);
    expect(cutDetail('y'.repeat(DETAIL_LIMIT + 1))).toHaveLength(DETAIL_LIMIT);
  });

  it('of any text can be signed, parsed, and is what the machine takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), fc.integer({ min: 1, max: 200 }), (unit, times) => {
        const envelope = make({ type: 'progress', detail: unit.repeat(times) });
        const back = parseEnvelope(JSON.stringify(envelope));
        expect(verifyEnvelope(back, key)).toBe(true);
        expect(AgentEvent.safeParse({ ...back.event, seq: back.seq }).success).toBe(true);
      }),
    );
    expect(verifyEnvelope(make({ type: 'progress', detail: 'half \ud83d of it' }), key)).toBe(true);
  });

  it('of nothing but control characters still fits into the spool', () => {
    const text = JSON.stringify(make({ type: 'progress', detail: '\u0001'.repeat(DETAIL_LIMIT) }));
    expect(() => parseEnvelope(text)).not.toThrow();
  });
});

describe('the parser refuses', () => {
  const good = make({ type: 'completed', manifest: 'a'.repeat(64) });
  const changed = (change: object) => JSON.stringify({ ...good, ...change });
  const without = (member: string) =>
    JSON.stringify(Object.fromEntries(Object.entries(good).filter(([name]) => name !== member)));

  it.each([
    ['nothing', '', 'not JSON'],
    ['half a file', JSON.stringify(good).slice(0, 100), 'not JSON'],
    ['a list', '[]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['another version', changed({ v: 2 }), '`v`'],
    ['an id that leaves a directory', changed({ id: '../../x' }), '`id`'],
    ['a job that leaves a directory', changed({ job: '..' }), '`job`'],
    ['attempt 0', changed({ attempt: 0 }), '`attempt`'],
    ['an attempt as text', changed({ attempt: '1' }), '`attempt`'],
    ['a broken sequence number', changed({ seq: 1.5 }), '`seq`'],
    ['no time', changed({ at: 'yesterday' }), '`at`'],
    ['a signature in capitals', changed({ sig: good.sig.toUpperCase().replace(/^./, 'A') }), '`sig`'],
    ['an event that is a list', changed({ event: ['completed'] }), '`event`'],
    ['a type that is no word', changed({ event: { type: 'Completed!' } }), '`event.type`'],
    ['a detail that is too long', changed({ event: { type: 'failed', detail: 'x'.repeat(4001) } }), '`event.detail`'],
    ['a manifest that is no sha256', changed({ event: { type: 'completed', manifest: 'abc' } }), '`event.manifest`'],
    ['a member nobody knows', changed({ admin: true }), '`admin`'],
    ['a member of the event nobody knows', changed({ event: { type: 'failed', outcome: 1 } }), '`event.outcome`'],
    ['a member called __proto__', `{"__proto__": {"v": 1}, ${JSON.stringify(good).slice(1)}`, '`__proto__`'],
    ['65 kB', changed({ event: { type: 'failed', detail: 'x'.repeat(65 * 1024) } }), 'longer than 65536 bytes'],
    ...['v', 'id', 'job', 'attempt', 'seq', 'event', 'at', 'sig'].map((m) => [`no ${m}`, without(m), `\`${m}\``]),
  ])('%s', (_, text, why) => {
    expect(() => parseEnvelope(text as string)).toThrow(EnvelopeError);
    expect(() => parseEnvelope(text as string)).toThrow(why);
  });

  it('not an event it does not know: what that means is for the row’s driver to say, in the log', () => {
    expect(parseEnvelope(changed({ event: { type: 'finished' } })).event.type).toBe('finished');
  });
});
