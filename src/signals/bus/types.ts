// The bus as the rest of Stepward sees it (docs/design.md section 6). Nothing depends on it for the truth: it carries hints and
// envelopes to the inbox, and tells what the registry says.

/** What a user wants; made by the command line from flags, environment and config. */
export type BusSettings =
  | { kind: 'off' }
  /** A broker on loopback, run by whichever driver of this registry holds the lock. */
  | { kind: 'embedded'; prefix: string }
  | ({ kind: 'external'; prefix: string; agent: Credentials | null } & BrokerAddress);

export interface Credentials {
  username: string;
  password: string;
}

/** How a client reaches a broker. File names are absolute. */
export interface BrokerAddress {
  /** mqtt, mqtts, mqtt+unix, ws or wss. */
  url: string;
  credentials: Credentials | null;
  tls: { ca?: string; cert?: string; key?: string };
}

/** What an agent is given to reach the bus: `bus.json` in its attempt's directory. */
export interface AgentAddress extends BrokerAddress {
  prefix: string;
  /** 4 = MQTT 3.1.1 (the embedded broker), 5 = MQTT 5. */
  protocol: 4 | 5;
}

export type BusStatus =
  | { up: true }
  /** `why`: a sentence for people; null while the first connection is being made. */
  | { up: false; why: string | null };

/** A retained message while we are connected, and another one (our last will) once we are not. */
export interface Presence {
  topic: string;
  online: string;
  offline: string;
}

export interface Bus {
  readonly prefix: string;
  status(): BusStatus;
  /** Resolves at the next change of `status` or of what `hears` says, or when the signal aborts. Never rejects. */
  changed(signal: AbortSignal): Promise<void>;
  /** Takes the events of a job into the inbox from now on, after every reconnection too; `onNews` is told of each. Idempotent. */
  follow(job: string, onNews: () => void): void;
  unfollow(job: string): void;
  /** The broker has confirmed, on the connection that stands now, that it sends us the events of this job. */
  hears(job: string): boolean;
  /** What an agent's bus.json must say. Null while nobody knows it yet. */
  agentAddress(): AgentAddress | null;
  /** Rises with every connection to a broker that may have forgotten what was retained. 0: never connected. */
  generation(): number;
  /** QoS 1. Resolves when the broker has confirmed; throws BusError. */
  publish(topic: string, payload: string, options?: { retain?: boolean }): Promise<void>;
  /** Idempotent. Gives the broker back if it was ours. */
  stop(): Promise<void>;
}

/** Why a broker does not do what it is asked: `reason` is for people and tells what to do next. */
export class BusError extends Error {
  override name = 'BusError';
  readonly code: BusErrorCode;
  constructor(code: BusErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const BUS_ERRORS = Object.freeze([
  /** Nobody answers there: refused, no route, no such name, or silence for longer than the connect limit. */
  'unreachable',
  /** User name, password or client certificate are not accepted. */
  'login',
  /** The broker may be reached and lets us in, but not do this (publish or subscribe denied). */
  'denied',
  /** It speaks another protocol or an older MQTT. */
  'protocol',
  /** Its certificate is expired, for another name, or of an unknown authority. */
  'certificate',
  /** The connection ended before the answer. */
  'lost',
] as const);
export type BusErrorCode = (typeof BUS_ERRORS)[number];
