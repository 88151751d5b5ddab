import { describe, expect, it } from 'vitest';
import { resolveJob, resolveJobs } from '../../src/cli/ids.ts';
import { beginJobs } from './registry.ts';

describe('naming a job', () => {
  it('is by its id, a unique prefix, or @last', async () => {
    const registry = await beginJobs('abc1', 'abc2', 'abc', 'xyz9');
    expect(await resolveJob(registry, 'xyz9')).toBe('xyz9');
    expect(await resolveJob(registry, 'x')).toBe('xyz9');
    expect(await resolveJob(registry, '@last')).toBe('xyz9');
    // A whole id wins over the longer ones that begin with it.
    expect(await resolveJob(registry, 'abc')).toBe('abc');
    expect(await resolveJobs(registry, ['x', 'xyz', 'abc1'])).toEqual(['xyz9', 'abc1']);
  });

  it('lists the candidates of an ambiguous prefix', async () => {
    const registry = await beginJobs('abc1', 'abc2', 'b');
    await expect(resolveJob(registry, 'a')).rejects.toThrow('JOB: "a" is ambiguous (abc1, abc2); allowed:');
  });

  it('lists only the first few', async () => {
    const registry = await beginJobs(...Array.from({ length: 12 }, (_, i) => `a${String.fromCharCode(97 + i)}`));
    await expect(resolveJob(registry, 'a')).rejects.toThrow('(aa, ab, ac, ad, ae, af, ag, ah, …)');
  });

  it.each(['', 'q', '@first', 'abc12', '%', '_'])('refuses %j', async (text) => {
    const registry = await beginJobs('abc1');
    await expect(resolveJob(registry, text)).rejects.toThrow(/^JOB: /);
  });

  it('knows none where there are none', async () => {
    await expect(resolveJob(null, 'abc')).rejects.toThrow('this project has no jobs yet');
    await expect(resolveJob(await beginJobs(), '@last')).rejects.toThrow('this project has no jobs yet');
  });
});
