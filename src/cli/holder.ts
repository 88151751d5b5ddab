// Who drives a row, as far as can be told from here.
import { FAULT_LIMIT } from '../kernel/admit.ts';
import type { DriverRecord, Registry, Row } from '../kernel/ports.ts';
import { isEnded } from './status.ts';

/** The live holder of the row's lease; null: nobody moves it. */
export async function holderOf(registry: Registry, job: string): Promise<DriverRecord | null> {
  const lease = await registry.lease(job);
  if (!lease?.driver || lease.expiresAt <= registry.now()) return null;
  return (await isDead(lease.driver)) ? null : lease.driver;
}

/** A driver that was killed holds its lease for up to 15 s more; here its pid says the truth at once. */
async function isDead(driver: DriverRecord): Promise<boolean> {
  const { isProvenDead, selfRecord } = await import('../transports/process.ts');
  return isProvenDead(driver, selfRecord('look', ''));
}

/** For people; of the host only its name, not the machine's and the boot's numbers. */
export const nameOf = ({ pid, host }: DriverRecord): string => `pid ${pid} on ${host.split('/')[0]}`;

/** Something is left to do for a driver. */
export const needsDriver = (row: Row): boolean => !isEnded(row) || row.cleanup === 'open';

export const isFaulted = (row: Row): boolean => row.faults >= FAULT_LIMIT;
