// What an agent is, as data: one profile a kind. Adding an agent is one file beside this one and one line in index.ts.
import type { TransportName } from '../transports/transport.ts';

export interface AgentProfile {
  kind: string;
  /** One line for lists and error messages. */
  summary: string;
  /** How agents of this kind can be reached; the first is the default. */
  transports: readonly [TransportName, ...TransportName[]];
  /** `required`: Stepward starts what the config or the caller names. `none`: there is nothing to start. */
  command: 'required' | 'none';
  /** Variables that every agent of this kind gets; config and caller come after and win. */
  env: Readonly<Record<string, string>>;
}
