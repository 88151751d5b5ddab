// What a caller asked for, resolved at registration and kept in the row: a changed config must not change a running job, and
// a driver that adopts the row needs no config at all.
import type { Limits } from '../../machines/job/events.ts';
import type { Json, Way } from '../kernel/ports.ts';
import type { TransportName } from '../transports/transport.ts';

export interface JobSpec {
  /** The agent's name in the config, and its kind. */
  agent: string;
  kind: string;
  transport: TransportName;
  target: string;
  /** Absolute. */
  cwd: string;
  /** The task, as the caller wrote it. */
  task: string;
  /** One line of it, for lists. */
  title: string;
  argv: string[];
  /** Variables of the profile and the caller, beside the allow-list. */
  env: Record<string, string>;
  limits: Limits;
  idleRetries: number;
  /** By which ways the agent can speak. With the bus alone a job waits until it is heard there, and silence counts only while
   *  it is. */
  ways: readonly Way[];
  /** Absolute. The registry's directory, for the brief's environment file. */
  registryDir: string;
}

export const specOf = (row: { spec: Json }): JobSpec => row.spec as unknown as JobSpec;
