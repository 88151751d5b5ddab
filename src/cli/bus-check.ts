// What `doctor` finds out about the bus: whether the broker that was named lets us in and lets us hear, within seconds.
import { BusError } from '../signals/bus/types.ts';
import { watcherAddress, watchTopics } from '../signals/bus/watch.ts';
import type { Check } from './checks.ts';
import type { Context } from './context.ts';

export async function checkBus(ctx: Context): Promise<Check> {
  const name = 'bus';
  const settings = await ctx.busSettings();
  if (settings.kind === 'off')
    return { name, ok: true, seen: 'off: agents report by the registry and by files', data: { kind: 'off' } };
  const { dir } = await ctx.registryPlace();
  const address = await watcherAddress(settings, dir);
  const data = { kind: settings.kind, prefix: settings.prefix, url: address?.url ?? null };
  const runs = 'embedded broker, run by whichever driver is there';
  if (!address) return { name, ok: true, seen: `${runs}; none has run yet`, data: { ...data, up: false } };
  const trouble = await tryOut(() => reach(address, settings.prefix));
  if (!trouble)
    return { name, ok: true, seen: `${address.url}, prefix ${settings.prefix}`, data: { ...data, up: true } };
  // Between two drivers there is no embedded broker, and nobody who could miss it.
  const ok = settings.kind === 'embedded' && trouble.code === 'unreachable';
  const seen = ok ? `${runs} on ${address.url}; none runs now` : trouble.message;
  return { name, ok, seen, data: { ...data, up: false, code: trouble.code } };
}

/** Connects and subscribes once. Throws BusError. */
async function reach(address: NonNullable<Awaited<ReturnType<typeof watcherAddress>>>, prefix: string): Promise<void> {
  const over = new AbortController();
  await watchTopics(
    address,
    prefix,
    ['hosts/+'],
    () => {},
    over.signal,
    () => over.abort(),
  );
}

async function tryOut(work: () => Promise<void>): Promise<BusError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof BusError) return error;
    throw error;
  }
}
