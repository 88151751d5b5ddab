// Performs a cleanup plan. Repeated until the session is clean or gone; the session lease ends only then.
import type { CleanupStep } from '../../machines/job/cleanup.ts';
import { DELIVERY_STEPS } from '../../machines/job/vocabulary.ts';
import type { EffectEnv } from '../kernel/context.ts';
import type { Row } from '../kernel/ports.ts';
import type { Fence, Look, Place, Transport } from '../transports/transport.ts';
import { specOf } from './spec.ts';
import { fenceOf, placeOf, transportOf, type Workshop } from './workshop.ts';

const LOOK_EVERY_MS = 500;
/** How often a quarantined session is looked at. */
const QUARANTINE_MS = 5_000;
const INTERRUPT_LIMIT_MS = 10_000;

interface Site {
  env: EffectEnv;
  place: Place;
  transport: Transport;
  fence: Fence;
  completed: boolean;
}

/** True: everything is undone. False: this driver lost the row; the next one begins the plan again. */
export async function cleanup(shop: Workshop, env: EffectEnv): Promise<boolean> {
  const row = await env.row();
  const session = await env.sessionRow();
  // A job that ended in the queue never had the session: nothing on it is ours to undo, and somebody else may be using it.
  const holds = session?.job === env.job && session.attempt === env.attempt;
  const site = holds ? await siteOf(shop, env, row) : null;
  if (holds && !site) return false;
  for (const step of env.input as unknown as CleanupStep[]) {
    if (env.signal.aborted) return false;
    if (step.do === 'remove-key') {
      await shop.files.removeKey({ cwd: specOf(row).cwd, job: env.job, attempt: env.attempt });
    } else if (site && !(await perform(site, step))) return false;
  }
  shop.fences.delete(`${env.job}/${env.attempt}/${env.epoch}`);
  return true;
}

async function siteOf(shop: Workshop, env: EffectEnv, row: Row): Promise<Site | null> {
  const fence = await fenceOf(shop, env, row);
  return (
    fence && {
      env,
      place: placeOf(shop, row),
      transport: transportOf(shop, row),
      fence,
      completed: row.outcome?.status === 'completed',
    }
  );
}

/** False: not done, and this driver may not go on. */
async function perform(site: Site, step: Exclude<CleanupStep, { do: 'remove-key' }>): Promise<boolean> {
  const { env, place, transport, fence } = site;
  switch (step.do) {
    case 'interrupt':
      await env.once({
        name: 'interrupt',
        limitMs: INTERRUPT_LIMIT_MS,
        may: async () => mayInterrupt(await transport.look(place)),
        act: () => transport.interrupt(place, fence),
      });
      return true;
    case 'await-settled':
      await awaitSettled(site, Math.min(step.limitMs, settleMsOf(site)));
      return true;
    case 'clear-own-text':
      await transport.clearOwnText(place, fence);
      return true;
    case 'reap':
      await transport.reap(place, fence);
      return true;
    case 'release-or-quarantine':
      return release(site);
  }
}

/** With a dialog open the key would answer it. */
const mayInterrupt = (look: Look): boolean =>
  look.alive && look.nonce && look.hold !== 'dialog' && look.turn !== 'settled';

/** An agent of our own that has not completed is ended by reap, which asks it first: nothing to wait for before. */
const settleMsOf = ({ transport: { capabilities }, completed }: Site): number =>
  capabilities.ownsAgent && !completed ? 0 : capabilities.settleMs;

async function awaitSettled({ env, place, transport }: Site, limitMs: number): Promise<void> {
  const until = env.clock.now() + limitMs;
  while (!env.signal.aborted && env.clock.now() < until) {
    const look = await transport.look(place);
    if (!look.alive || look.clean) return;
    await transport.change(place, Math.min(LOOK_EVERY_MS, until - env.clock.now()), env.signal);
  }
}

/** Frees the session if it holds nothing of ours; else it is quarantined, with the reason, until it does not. */
async function release(site: Site): Promise<boolean> {
  const { env, place, transport, fence } = site;
  // A job that never began to deliver left the session as it was: what runs there is not ours to wait for, and its quarantine
  // would refuse the redispatch that its exit code promises.
  const touched = await mayHaveTouched(env);
  for (let told = false; !env.signal.aborted; ) {
    const look = touched ? await transport.look(place) : null;
    if (!look || look.clean) {
      await transport.dropMark(place, fence);
      await env.releaseSession();
      return true;
    }
    if (!told) await env.quarantineSession(look.detail ?? look.hold ?? 'a turn of ours still runs');
    told = true;
    await transport.change(place, QUARANTINE_MS, env.signal);
    await transport.clearOwnText(place, fence);
    await transport.reap(place, fence);
  }
  return false;
}

async function mayHaveTouched(env: EffectEnv): Promise<boolean> {
  for (const step of DELIVERY_STEPS) if (await env.started(step)) return true;
  return false;
}
