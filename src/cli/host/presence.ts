// What a host tells the bus about itself: online while it is connected, offline by its last will (docs/design.md section 6).
import { createHash } from 'node:crypto';
import { hostTopic } from '../../signals/bus/topics.ts';
import type { Presence } from '../../signals/bus/types.ts';
import type { HostRecord } from './record.ts';

/** Of one machine and one registry: two projects' hosts share a broker without taking each other for dead. */
export function hostName(machine: string, registryDir: string): string {
  const code = createHash('sha256').update(registryDir).digest('hex').slice(0, 6);
  const name = machine.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return `${name.slice(0, 100) || 'host'}-${code}`;
}

export function presenceOf(prefix: string, registryDir: string, { name, pid, build, since }: HostRecord): Presence {
  const host = hostName(name, registryDir);
  const as = (state: 'online' | 'offline') => JSON.stringify({ v: 1, host, state, pid, build, since });
  return { topic: hostTopic(prefix, host), online: as('online'), offline: as('offline') };
}
