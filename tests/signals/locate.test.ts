import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptPaths, prepareAttempt, removeKey } from '../../src/signals/attempt.ts';
import { AttemptError, InputError } from '../../src/signals/errors.ts';
import { locateAttempt, readKey, type Search } from '../../src/signals/locate.ts';
import { tempDirectory } from './world.ts';

let cwd: string;
let paths: AttemptPaths;

beforeEach(async () => {
  cwd = await tempDirectory();
  const ref = { cwd, job: 'job1', attempt: 1 };
  paths = await prepareAttempt({ ...ref, key: 'secret', registryDir: '/reg', brief: '', command: 'stepward' });
});

const locate = (search: Partial<Search>) =>
  locateAttempt({ from: cwd, envFile: undefined, job: undefined, attempt: undefined, ...search });

describe('an attempt is found', () => {
  it('by the environment file', async () => {
    const found = await locate({ envFile: paths.env, from: '/' });
    expect(found).toEqual({
      job: 'job1',
      attempt: 1,
      cwd,
      registryDir: '/reg',
      ways: ['inbox', 'bus', 'spool'],
      paths,
    });
  });

  it('with all ways if its file, of an older build, names none, and else with those', async () => {
    const env = JSON.parse(await readFile(paths.env, 'utf8')) as object;
    await writeFile(paths.env, JSON.stringify({ ...env, ways: undefined }));
    expect((await locate({ envFile: paths.env })).ways).toEqual(['inbox', 'bus', 'spool']);
    await writeFile(paths.env, JSON.stringify({ ...env, ways: ['bus'] }));
    expect((await locate({ envFile: paths.env })).ways).toEqual(['bus']);
  });

  it('by walking up from a directory below', async () => {
    const from = join(cwd, 'src', 'deep');
    await mkdir(from, { recursive: true });
    expect(await locate({ from, job: 'job1', attempt: '1' })).toMatchObject({ cwd, paths });
  });

  it('by name before the environment, and by the environment if it is that very attempt', async () => {
    const ref = { cwd, job: 'job1', attempt: 2 };
    const two = await prepareAttempt({ ...ref, key: 's', registryDir: '/reg', brief: '', command: 'stepward' });
    expect(await locate({ envFile: two.env, job: 'job1', attempt: '1' })).toMatchObject({ attempt: 1 });
    expect(await locate({ envFile: two.env, job: 'job1', attempt: '2', from: '/' })).toMatchObject({ attempt: 2 });
  });

  it('where its working directory is mounted under another name', async () => {
    const other = await tempDirectory();
    await symlink(cwd, join(other, 'mounted'));
    const found = await locate({ from: join(other, 'mounted'), job: 'job1', attempt: '1' });
    expect(found.cwd).toBe(join(other, 'mounted'));
  });
});

describe('an attempt is never guessed:', () => {
  it.each<[string, Partial<Search>, string]>([
    ['nothing is said', {}, 'STEPWARD_ENV: is not set'],
    ['a job without an attempt', { job: 'job1' }, '--job: "job1" needs --attempt too'],
    ['an attempt without a job', { attempt: '1' }, '--attempt: "1" needs --job too'],
    ['attempt 0', { job: 'job1', attempt: '0' }, '--attempt: "0" is no attempt'],
    ['attempt 1e0', { job: 'job1', attempt: '1e0' }, '--attempt: "1e0" is no attempt'],
    ['a job that leaves the directory', { job: '../job1', attempt: '1' }, '--job: "../job1" is no job id'],
    ['a file that is not there', { envFile: '/nowhere/env.json' }, 'STEPWARD_ENV: "/nowhere/env.json" ENOENT'],
    ['an empty variable', { envFile: '' }, 'STEPWARD_ENV: is not set'],
  ])('%s', async (_, search, sentence) => {
    await expect(locate(search)).rejects.toThrow(InputError);
    await expect(locate(search)).rejects.toThrow(sentence);
  });

  it.each([
    ['no JSON', '{'],
    ['another schema', '{"schema":"stepward.env/2","job":"job1","attempt":1,"registryDir":"/reg"}'],
    ['another attempt', '{"schema":"stepward.env/1","job":"job1","attempt":2,"registryDir":"/reg"}'],
    [
      'ways that nobody knows',
      '{"schema":"stepward.env/1","job":"job1","attempt":1,"registryDir":"/reg","ways":["air"]}',
    ],
    ['no way at all', '{"schema":"stepward.env/1","job":"job1","attempt":1,"registryDir":"/reg","ways":[]}'],
    ['a relative registry', '{"schema":"stepward.env/1","job":"job1","attempt":1,"registryDir":"reg"}'],
  ])('an environment file with %s', async (_, text) => {
    await writeFile(paths.env, text);
    await expect(locate({ envFile: paths.env })).rejects.toThrow(InputError);
    await expect(locate({ job: 'job1', attempt: '1' })).rejects.toThrow(InputError);
  });

  it('an environment file outside any attempt’s directory', async () => {
    await writeFile(join(cwd, 'env.json'), await readFile(paths.env));
    await expect(locate({ envFile: join(cwd, 'env.json') })).rejects.toThrow('does not lie in an attempt’s directory');
  });

  it('an attempt that is not here, even if the environment names another one', async () => {
    const search = { envFile: paths.env, job: 'job1', attempt: '2' };
    await expect(locate(search)).rejects.toMatchObject({ name: 'AttemptError', problem: 'not_found' });
  });
});

describe('a key', () => {
  it('is read as it was minted', async () => {
    expect(await readKey(paths)).toBe('secret');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['removed at the end', () => removeKey(paths)],
    ['empty', () => writeFile(paths.key, '\n')],
    [
      'a directory',
      async () => {
        await rm(paths.key);
        await mkdir(paths.key);
      },
    ],
    [
      'a link',
      async () => {
        await rm(paths.key);
        await symlink(paths.env, paths.key);
      },
    ],
  ])('that is %s is an error that names the file', async (_, spoil) => {
    await spoil();
    await expect(readKey(paths)).rejects.toThrow(AttemptError);
    await expect(readKey(paths)).rejects.toThrow(paths.key);
  });
});
