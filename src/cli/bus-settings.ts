// Which broker: the environment beats the config, the config beats the embedded broker.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { withoutLogin } from '../signals/bus/login.ts';
import { isTopicPrefix } from '../signals/bus/topics.ts';
import type { BusSettings } from '../signals/bus/types.ts';
import type { Config } from './config/schema.ts';
import { UsageError } from './errors.ts';
import { nonEmpty } from './settings.ts';

const PROTOCOLS = Object.freeze(['mqtt:', 'mqtts:', 'mqtt+unix:', 'ws:', 'wss:']);
const URL_FORM = 'off, or mqtt://HOST[:PORT], mqtts://HOST[:PORT], mqtt+unix:///SOCKET, ws://…, wss://…';

interface Said {
  option: string;
  value: string | undefined;
}

/**
 * @param base the directory that file names of the config are relative to.
 * @throws UsageError, which names the variable or the config's key.
 */
export function resolveBus(config: Config['bus'], env: NodeJS.ProcessEnv, base: string, cwd: string): BusSettings {
  const pick = (variable: string, key: string, fromConfig: string | undefined): Said => {
    const value = nonEmpty(env[variable]);
    return value === undefined ? { option: `bus.${key}`, value: fromConfig } : { option: variable, value };
  };
  const url = pick('STEPWARD_MQTT_URL', 'url', config.url);
  const prefix = prefixOf(pick('STEPWARD_MQTT_PREFIX', 'prefix', config.prefix));
  if (url.value === 'off') return { kind: 'off' };
  if (url.value === undefined) return { kind: 'embedded', prefix };
  const file = (variable: string, key: 'ca' | 'cert' | 'key') =>
    fileOf(pick(variable, key, config[key]), nonEmpty(env[variable]) === undefined ? base : cwd);
  const parsed = parseUrl(url);
  const username = pick('STEPWARD_MQTT_USERNAME', 'username', config.username).value ?? parsed.username;
  const password = pick('STEPWARD_MQTT_PASSWORD', 'password', config.password).value ?? parsed.password;
  const [ca, cert, key] = [
    file('STEPWARD_MQTT_CA', 'ca'),
    file('STEPWARD_MQTT_CERT', 'cert'),
    file('STEPWARD_MQTT_KEY', 'key'),
  ];
  if ((cert === undefined) !== (key === undefined)) {
    const option = cert === undefined ? 'bus.cert' : 'bus.key';
    throw new UsageError({
      option,
      problem: 'is missing',
      allowed: 'a client certificate and its key, both or neither',
    });
  }
  return {
    kind: 'external',
    prefix,
    url: parsed.url,
    credentials: username === undefined ? null : { username, password: password ?? '' },
    agent: config.agent ?? null,
    tls: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
  };
}

function prefixOf({ option, value = 'stepward' }: Said): string {
  if (isTopicPrefix(value)) return value;
  throw new UsageError({
    option,
    value,
    problem: 'is no topic prefix',
    allowed: 'words of A-Z a-z 0-9 _ - with / between',
  });
}

/** Name and password leave the URL, so that no message and no log ever shows them. */
function parseUrl({ option, value = '' }: Said): { url: string; username?: string; password?: string } {
  const bad = (problem: string) => new UsageError({ option, value: withoutLogin(value), problem, allowed: URL_FORM });
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw bad('is not a URL');
  }
  if (!PROTOCOLS.includes(url.protocol)) throw bad('has another protocol');
  const isSocket = url.protocol === 'mqtt+unix:';
  if (!isSocket && url.hostname === '') throw bad('names no host');
  if (isSocket && url.pathname.length < 2) throw bad('names no socket');
  const [username, password] = [decoded(url.username), decoded(url.password)];
  url.username = '';
  url.password = '';
  return { url: url.href, ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

/** A `%` that encodes nothing stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fileOf({ option, value }: Said, base: string): string | undefined {
  if (value === undefined) return undefined;
  const file = resolve(base, value);
  if (existsSync(file)) return file;
  throw new UsageError({ option, value, problem: 'does not exist', allowed: 'a PEM file' });
}
