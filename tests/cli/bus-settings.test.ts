// Which broker, from the config and the environment (docs/configuration.md).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveBus } from '../../src/cli/bus-settings.ts';
import { UsageError } from '../../src/cli/errors.ts';
import { freshDir } from './inside.ts';

const here = '/nowhere';
const bus = (config: Parameters<typeof resolveBus>[0], env: NodeJS.ProcessEnv = {}) =>
  resolveBus(config, env, here, here);

describe('the broker', () => {
  it('is the embedded one where nobody says anything, or only a prefix', () => {
    expect(bus({})).toEqual({ kind: 'embedded', prefix: 'stepward' });
    expect(bus({ prefix: 'team/a' })).toEqual({ kind: 'embedded', prefix: 'team/a' });
    expect(bus({}, { STEPWARD_MQTT_URL: '', STEPWARD_MQTT_PREFIX: '' })).toEqual({
      kind: 'embedded',
      prefix: 'stepward',
    });
  });

  it('is none where the config or the environment says off; the environment wins', () => {
    expect(bus({ url: 'off' })).toEqual({ kind: 'off' });
    expect(bus({ url: 'mqtt://h' }, { STEPWARD_MQTT_URL: 'off' })).toEqual({ kind: 'off' });
    expect(bus({ url: 'off' }, { STEPWARD_MQTT_URL: 'mqtt://h' })).toMatchObject({ kind: 'external', url: 'mqtt://h' });
  });

  it('is an external one by its URL, whose name and password leave it', () => {
    expect(bus({ url: 'mqtts://ann:p%40ss@broker.example:8884' })).toEqual({
      kind: 'external',
      prefix: 'stepward',
      url: 'mqtts://broker.example:8884',
      credentials: { username: 'ann', password: 'p@ss' },
      agent: null,
      tls: {},
    });
    expect(bus({ url: 'mqtt+unix:///run/m.sock' })).toMatchObject({
      url: 'mqtt+unix:///run/m.sock',
      credentials: null,
    });
    expect(bus({ url: 'mqtt://a:100%@h' })).toMatchObject({ credentials: { username: 'a', password: '100%' } });
  });

  it('takes each part from the environment before the config', () => {
    const config = { url: 'mqtt://h', username: 'c', password: 'cc', prefix: 'c' };
    const env = { STEPWARD_MQTT_USERNAME: 'e', STEPWARD_MQTT_PASSWORD: 'ee', STEPWARD_MQTT_PREFIX: 'e' };
    expect(bus(config)).toMatchObject({ credentials: { username: 'c', password: 'cc' }, prefix: 'c' });
    expect(bus(config, env)).toMatchObject({ credentials: { username: 'e', password: 'ee' }, prefix: 'e' });
  });

  it('finds files from where they were named', () => {
    const [base, cwd] = [freshDir(), freshDir()];
    for (const dir of [base, cwd]) for (const name of ['ca.pem', 'c.pem', 'k.pem']) writeFileSync(join(dir, name), '');
    const config = { url: 'mqtts://h', ca: 'ca.pem', cert: 'c.pem', key: 'k.pem' };
    const tls = (dir: string) => ({ ca: join(dir, 'ca.pem'), cert: join(dir, 'c.pem'), key: join(dir, 'k.pem') });
    expect(resolveBus(config, {}, base, cwd)).toMatchObject({ tls: tls(base) });
    const env = { STEPWARD_MQTT_CA: 'ca.pem', STEPWARD_MQTT_CERT: 'c.pem', STEPWARD_MQTT_KEY: 'k.pem' };
    expect(resolveBus({ url: 'mqtts://h' }, env, base, cwd)).toMatchObject({ tls: tls(cwd) });
  });

  it.each([
    [{ url: 'nonsense' }, {}, 'bus.url', 'is not a URL'],
    [{ url: 'http://h' }, {}, 'bus.url', 'has another protocol'],
    [{ url: 'mqtt://' }, {}, 'bus.url', 'names no host'],
    [{ url: 'mqtt+unix://' }, {}, 'bus.url', 'names no socket'],
    [{ prefix: 'a/#' }, {}, 'bus.prefix', 'is no topic prefix'],
    [{}, { STEPWARD_MQTT_PREFIX: '+' }, 'STEPWARD_MQTT_PREFIX', 'is no topic prefix'],
    [{}, { STEPWARD_MQTT_URL: 'tcp://h' }, 'STEPWARD_MQTT_URL', 'has another protocol'],
    [{ url: 'mqtts://h', ca: 'missing.pem' }, {}, 'bus.ca', 'does not exist'],
    [{ url: 'mqtts://h', cert: 'package.json' }, {}, 'bus.cert', 'does not exist'],
  ])('refuses %o with %o, and names %s', (config, env, option, problem) => {
    const refused = () => bus(config, env);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(`${option}: `);
    expect(refused).toThrow(problem);
  });

  it('wants a client certificate and its key, both or neither', () => {
    const dir = freshDir();
    writeFileSync(join(dir, 'k.pem'), '');
    const alone = () => resolveBus({ url: 'mqtts://h', key: 'k.pem' }, {}, dir, dir);
    expect(alone).toThrow('bus.cert: is missing');
  });

  it.each([
    'http://ann:secret@h',
    'mqtt://ann:se/secret@h:x',
    'mqtt:ann:secret@h',
    'ann:secret@h:1883',
    'http://ann:sec@secret@h',
    'mqtt//ann:secret@h',
  ])('never shows a password: %s', (url) => {
    const refused = () => bus({ url });
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(/^(?!.*sec).*…@h/s);
  });
});
