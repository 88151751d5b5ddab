// One host per registry.
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked, type Lock, takeLock } from '../../registry/sqlite/lock.ts';
import { HOST_LOCK, type HostRecord, livingRecord } from './record.ts';

/** A winner writes its name right after it has the lock; a host that ends removes it right before. */
const NAME_MS = 3_000;
const AGAIN_MS = 20;

export type Bid = { lock: Lock } | { lock: null; holder: HostRecord | null };

/** The lock, or who holds it (null: it does not say so). Throws RegistryError. */
export async function bid(dir: string): Promise<Bid> {
  const until = performance.now() + NAME_MS;
  for (;;) {
    const lock = await takeLock(dir, HOST_LOCK);
    if (lock) return { lock };
    // A name that a dead host has left is none: then the present one is about to write its own.
    const holder = livingRecord(dir);
    if (holder || performance.now() >= until) return { lock: null, holder };
    await sleep(AGAIN_MS * (1 + Math.random()));
  }
}

export type HostState = { running: false } | { running: true; record: HostRecord | null };

/** Writes nothing. Throws RegistryError. */
export async function hostState(dir: string): Promise<HostState> {
  const until = performance.now() + NAME_MS;
  for (;;) {
    if (!(await isLocked(dir, HOST_LOCK))) return { running: false };
    const record = livingRecord(dir);
    if (record || performance.now() >= until) return { running: true, record };
    await sleep(AGAIN_MS);
  }
}
