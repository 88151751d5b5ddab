// `bus.json` in an attempt's directory: how its agent reaches the bus. Read by `emit`, so checked by hand.
import { readRegular } from '../files.ts';
import { isRecord } from '../names.ts';
import type { AttemptPaths } from '../paths.ts';
import { isTopicPrefix } from './topics.ts';
import type { AgentAddress } from './types.ts';

const ADDRESS_LIMIT = 16 * 1024;

/** Null: there is none, or none that can be used. It is read anew for each try: the embedded broker may have got another port. */
export async function readBusAddress({ bus }: Pick<AttemptPaths, 'bus'>): Promise<AgentAddress | null> {
  try {
    return parseAddress(JSON.parse(await readRegular(bus, ADDRESS_LIMIT)));
  } catch {
    return null;
  }
}

export const addressText = (address: AgentAddress): string => `${JSON.stringify(address, null, 2)}\n`;

function parseAddress(value: unknown): AgentAddress | null {
  if (!isRecord(value)) return null;
  const { url, credentials, tls, prefix, protocol } = value;
  const isLogin = credentials === null || (isRecord(credentials) && areTexts(credentials, ['username', 'password']));
  const areFiles = isRecord(tls) && areTexts(tls, Object.keys(tls));
  const isWhole = typeof url === 'string' && isTopicPrefix(prefix) && (protocol === 4 || protocol === 5);
  return isWhole && isLogin && areFiles ? (value as unknown as AgentAddress) : null;
}

const areTexts = (value: Record<string, unknown>, names: string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');
