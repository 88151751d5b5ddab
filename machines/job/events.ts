// Events as zod schemas: one source for checking what comes from outside AND for the machine's event type.
import { z } from 'zod';
import { HOLDS } from './vocabulary.ts';

const seq = z.number().int().positive();
const detail = z.string().max(4000).optional();

/** What an agent may say. Signature, job and attempt are checked before the machine sees it. */
export const AgentEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), seq, detail }),
  z.object({ type: z.literal('progress'), seq, detail }),
  z.object({ type: z.literal('permission_required'), seq, detail }),
  z.object({ type: z.literal('permission_cleared'), seq, detail }),
  /** `manifest`: sha256 of the manifest file, so that the signed envelope says which report it means. */
  z.object({ type: z.literal('completed'), seq, detail, manifest: z.string().regex(/^[0-9a-f]{64}$/) }),
  z.object({ type: z.literal('failed'), seq, detail }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** What a person, a loop or a driver may ask. `deadline_timeout` is what `close` sends. */
export const PersonEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cancelled'), detail }),
  z.object({ type: z.literal('deadline_timeout'), detail }),
]);
export type PersonEvent = z.infer<typeof PersonEvent>;

/** What our own effects saw. Tied to an open outbox row, so that a late one is dropped before it gets here. */
export const SeenEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hold.seen'), hold: z.enum(HOLDS) }),
  z.object({ type: z.literal('step.started'), step: z.string() }),
  z.object({ type: z.literal('nonce.seen') }),
  z.object({ type: z.literal('turn.working') }),
  z.object({ type: z.literal('turn.blocked') }),
  z.object({ type: z.literal('turn.settled') }),
  z.object({ type: z.literal('turn.hidden') }),
  z.object({ type: z.literal('agent.exited'), detail }),
  /** `detail`: why the bus is away, a sentence for people. */
  z.object({ type: z.literal('bus.lost'), detail: z.string().min(1).max(4000) }),
  z.object({ type: z.literal('bus.back') }),
]);
export type SeenEvent = z.infer<typeof SeenEvent>;

export type JobEvent = AgentEvent | PersonEvent | SeenEvent;

const ms = z.number().int().nonnegative();

/** All in milliseconds. The defaults are section 5's and section 8's. */
export const Limits = z.object({
  queue: ms.default(3_600_000),
  preflight: ms.default(30_000),
  idleProbe: ms.default(120_000),
  idleBackoff: ms.default(10_000),
  openWays: ms.default(30_000),
  deadline: ms.default(3_600_000),
  typing: ms.default(60_000),
  idle: ms.default(600_000),
  permission: ms.default(1_800_000),
  quiet: ms.default(5_000),
  diskPoll: ms.default(3_000),
  drain: ms.default(5_000),
  verify: ms.default(30_000),
  settle: ms.default(60_000),
});
export type Limits = z.infer<typeof Limits>;

export const JobInput = z.object({
  idleRetries: z.number().int().min(0).default(2),
  /** The agent reaches us by the bus and by nothing else. */
  busOnly: z.boolean().default(false),
  limits: Limits.default(() => Limits.parse({})),
});
export type JobInput = z.infer<typeof JobInput>;
