// The watcher: level-triggered, it speaks whenever the session shows something else than the row says, so that a late
// envelope (a permission_required out of the spool) cannot leave the row wrong. It tells delivery and turn, never success.
import type { EffectEnv } from '../kernel/context.ts';
import type { Row } from '../kernel/ports.ts';
import { fenceOf, placeOf, transportOf, type Workshop } from './workshop.ts';

const LOOK_EVERY_MS = 1_000;

/** Returns when there is nothing to watch (any more); the turn is hidden then, and the idle clock decides. */
export async function watch(shop: Workshop, env: EffectEnv): Promise<void> {
  const first = await env.row();
  const transport = transportOf(shop, first);
  if (!transport.capabilities.observesTurn) return;
  if (!(await fenceOf(shop, env, first))) return;
  const place = placeOf(shop, first);
  while (!env.signal.aborted) {
    const looked = env.looking();
    const look = await transport.look(place);
    if (!look.alive && !(look.nonce || !transport.capabilities.ownsAgent) && (await isSubmitting(env))) {
      // An agent of ours that has not started has not exited: whether it ever will is the delivery's to find out and to say.
      looked();
      await transport.change(place, LOOK_EVERY_MS, env.signal);
      continue;
    }
    if (!look.alive) {
      looked();
      await env.report({ type: 'agent.exited', ...(look.detail !== null && { detail: look.detail }) });
      return;
    }
    const row = await env.row();
    const { delivery, turn } = regionsOf(row);
    if (look.nonce && delivery !== null && delivery !== 'accepted') await env.report({ type: 'nonce.seen' });
    // It is about our turn only once the agent's record, or the agent itself, has proved that our prompt arrived.
    const begun = look.nonce || row.snapshot.context.heardFromAgent === true;
    // A turn too short to be seen working has begun all the same; only then can it be seen settled.
    const seen = turn === 'notBegun' && look.turn === 'settled' ? 'working' : look.turn;
    const mayTell = turn !== 'blocked' || transport.capabilities.seesDialogs;
    if (begun && turn !== null && seen !== turn && mayTell) await env.report({ type: `turn.${seen}` });
    looked();
    await transport.change(place, LOOK_EVERY_MS, AbortSignal.any([env.signal, env.lookWanted()]));
  }
}

const isSubmitting = async (env: EffectEnv): Promise<boolean> => regionsOf(await env.row()).delivery === 'submitting';

/** Where the regions of injected are; null outside of it. */
function regionsOf(row: Row): { delivery: string | null; turn: string | null } {
  const { dispatched } = row.snapshot.value as { dispatched?: { injected?: { delivery: Value; turn: Value } } };
  const injected = dispatched?.injected;
  return { delivery: nameOf(injected?.delivery), turn: nameOf(injected?.turn) };
}

type Value = string | Record<string, unknown>;
const nameOf = (value: Value | undefined): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : (Object.keys(value)[0] ?? null);
