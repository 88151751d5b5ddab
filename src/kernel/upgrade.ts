// Brings a row of an older machine up to this build's before anything of it is decided.
import { type Context, type Held, machineOf } from './context.ts';
import { machineId } from './definition.ts';
import { noteFault } from './faults.ts';
import { isFaulted, loadHeld } from './handle.ts';
import { migrate, migrationChange } from './migrate.ts';
import { isRegistryTrouble } from './trouble.ts';

/** True: the row may be driven (a faulted one, too: its forced end needs no machine). False: try again, or it is not ours. */
export async function upgrade(context: Context, held: Held): Promise<boolean> {
  const row = await loadHeld(context, held);
  const definition = row && machineOf(context, row);
  if (!row || !definition) return false;
  if (row.machine === machineId(definition) || isFaulted(row)) return true;
  held.cached = null;
  try {
    const { registry } = context;
    const migrated = migrate(definition, row, await registry.timers(row.id), await registry.openWork(row.id));
    if (migrated === 'current') return true;
    if (migrated === 'unknown') return false;
    const to = machineId(definition);
    const log = { from: 'kernel', what: 'migrated', verdict: 'take', data: { to }, driver: context.record.id } as const;
    return await registry.commit(row, migrationChange(definition, migrated, registry.now(), log));
  } catch (error) {
    if (isRegistryTrouble(error)) throw error;
    await noteFault(context, definition, row, 'migration', error);
    return false;
  }
}
