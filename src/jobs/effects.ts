// The job's effects by the names the machine invokes. All are repeatable; what must not repeat is a once step inside them.
import { isEnd } from '../../machines/job/vocabulary.ts';
import type { EffectBody, EffectEnv } from '../kernel/context.ts';
import { type AttemptRef, attemptPaths } from '../signals/attempt.ts';
import { newKey } from '../signals/signature.ts';
import { type Hand, type Place, PlaceError, type Transport } from '../transports/transport.ts';
import { renderBrief } from './brief.ts';
import { followBus, openWays } from './channel.ts';
import { cleanup } from './cleanup.ts';
import { specOf } from './spec.ts';
import { watch } from './watch.ts';
import { fenceOf, placeOf, transportOf, type Workshop } from './workshop.ts';

const QUEUE_POLL_MS = 500;
/** Free twice in a row: once may be the moment between two turns. */
const BETWEEN_LOOKS_MS = 1_000;

export function jobEffects(shop: Workshop): Readonly<Record<string, EffectBody>> {
  return {
    sessionLease: (env) => sessionLease(env),
    preflight: (env) => preflight(shop, env),
    awaitIdle: (env) => awaitIdle(shop, env),
    openWays: (env) => openWays(shop, env),
    inject: (env) => inject(shop, env),
    remind: (env) => remind(shop, env),
    watch: (env) => watch(shop, env),
    followBus: (env) => followBus(shop, env),
    readDisk: (env) => env.drain(),
    drainWays: (env) => env.drain(),
    awaitTurn: (env) => awaitTurn(shop, env),
    verifyReport: (env) => verifyReport(shop, env),
    cleanup: (env) => cleanup(shop, env),
  };
}

async function sessionLease(env: EffectEnv): Promise<void> {
  while (!env.signal.aborted && !(await env.acquireSession())) {
    const holder = await env.sessionRow();
    // A holder that has ended, but whose driver died before it had tidied up, would block the queue for ever.
    if (holder && holder.job !== env.job) await env.adoptFinished(holder.job);
    await env.sleep(QUEUE_POLL_MS);
  }
}

async function preflight(shop: Workshop, env: EffectEnv): Promise<void> {
  const at = await enter(shop, env);
  if (!at) return;
  await at.transport.preflight(at.place);
  const key = await env.mintKey(newKey());
  if (key === null) return;
  const row = await env.row();
  const spec = specOf(row);
  const ref: AttemptRef = { cwd: spec.cwd, job: env.job, attempt: env.attempt };
  const report = attemptPaths(ref).report.slice(spec.cwd.length + 1);
  const { files, registryDir, command } = shop;
  const brief = renderBrief({ job: env.job, attempt: env.attempt, spec, command, report });
  const { ways } = spec;
  // Not known yet: row-ways.ts writes it as soon as it is, perhaps before us.
  const bus = ways.includes('bus') ? shop.bus?.agentAddress() : null;
  await files.prepare({ ...ref, key, registryDir, brief, command, ways, ...(bus && { bus }) });
  // A driver that slept before it wrote may have been overtaken by the end of the attempt and by the removal of its key.
  const { phase, attempt } = await env.row();
  if (isEnd(phase) || attempt !== env.attempt) await files.removeKey(ref);
}

async function awaitIdle(shop: Workshop, env: EffectEnv): Promise<void> {
  const at = await enter(shop, env);
  if (!at) return;
  // Where nothing of the session can be seen, or nothing runs in it yet, a second look tells nothing new.
  const { observesTurn, ownsAgent } = at.transport.capabilities;
  const pause = observesTurn && !ownsAgent ? BETWEEN_LOOKS_MS : 0;
  for (let seen = 0; seen < 2 && !env.signal.aborted; ) {
    const looked = env.looking();
    const look = await at.transport.look(at.place);
    looked();
    if (!look.alive) throw new PlaceError(`the session is gone: ${look.detail ?? 'nothing is there'}`);
    seen = look.hold === null ? seen + 1 : 0;
    if (look.hold !== null) await env.report({ type: 'hold.seen', hold: look.hold });
    if (seen < 2) await at.transport.change(at.place, look.hold === null ? pause : BETWEEN_LOOKS_MS, env.signal);
  }
}

async function inject(shop: Workshop, env: EffectEnv) {
  const at = await enter(shop, env);
  return at && { delivery: await at.transport.inject(at.place, at.hand) };
}

async function remind(shop: Workshop, env: EffectEnv): Promise<void> {
  const at = await enter(shop, env);
  if (at) await at.transport.remind(at.place, at.hand);
}

/** Until our turn has ended: an agent may still touch its report while its turn runs. */
async function awaitTurn(shop: Workshop, env: EffectEnv): Promise<void> {
  const at = await enter(shop, env);
  if (!at?.transport.capabilities.observesTurn) return;
  while (!env.signal.aborted) {
    const look = await at.transport.look(at.place);
    if (!look.alive || look.turn === 'settled' || look.clean) return;
    await at.transport.change(at.place, BETWEEN_LOOKS_MS, env.signal);
  }
}

async function verifyReport(shop: Workshop, env: EffectEnv): Promise<{ valid: boolean; why?: string }> {
  const row = await env.row();
  const manifest = row.snapshot.context.manifest as string | null;
  if (row.key === null || manifest === null) return { valid: false, why: 'no report was named' };
  const ref: AttemptRef = { cwd: specOf(row).cwd, job: env.job, attempt: env.attempt };
  const verified = await shop.files.verify({ ...ref, key: row.key, signal: env.signal });
  if (!verified.valid) return { valid: false, why: verified.why };
  if (verified.sha256 !== manifest) return { valid: false, why: 'the manifest is not the one that completed named' };
  return { valid: true };
}

export interface At {
  place: Place;
  transport: Transport;
  hand: Hand;
}

/** The place and a hand with this driver's mark. Null: aborted. */
async function enter(shop: Workshop, env: EffectEnv): Promise<At | null> {
  const row = await env.row();
  const fence = await fenceOf(shop, env, row);
  if (!fence) return null;
  const hand: Hand = {
    fence,
    signal: env.signal,
    once: env.once,
    inspect: env.inspect,
    hold: (hold) => env.report({ type: 'hold.seen', hold }),
    sleep: env.sleep,
  };
  return { place: placeOf(shop, row), transport: transportOf(shop, row), hand };
}
