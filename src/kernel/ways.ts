// The ways in, used so that trouble with one of them (an agent has replaced the spool by a file, the working directory is gone)
// is told and holds nothing up: the inbox is still decided, and time still passes for the row.
import type { Context, Held } from './context.ts';
import type { Row } from './ports.ts';
import { isRegistryTrouble, messageOf } from './trouble.ts';

export const openWays = (context: Context, held: Held, row: Row): Promise<void> =>
  carefully(context, held, () => context.ways.open(row, () => held.poke.poke()));

export const collectWays = (context: Context, held: Held, row: Row): Promise<void> =>
  carefully(context, held, () => context.ways.collect(row));

async function carefully(context: Context, held: Held, use: () => Promise<void>): Promise<void> {
  try {
    await use();
    held.waysTrouble = null;
  } catch (error) {
    if (isRegistryTrouble(error)) throw error;
    const reason = messageOf(error);
    // Every turn of the loop meets the same trouble; it is told when it begins and when it changes.
    if (held.waysTrouble === reason) return;
    held.waysTrouble = reason;
    context.warn(`job ${held.job}: ${reason}`);
    const log = {
      from: 'kernel',
      what: 'way in trouble',
      verdict: 'refused',
      reason,
      driver: context.record.id,
    } as const;
    await context.registry.note(held.job, log);
  }
}
