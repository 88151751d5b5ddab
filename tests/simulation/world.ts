// What every simulated world has: places with agents in them, persons who meddle, and a memory for what must never happen.
import type { Transport } from '../../src/transports/transport.ts';
import type { AgentStyle } from './agent.ts';
import type { Desk } from './desk.ts';
import type { Life, Scheduler } from './scheduler.ts';

export interface WorldOptions {
  kind: 'pane' | 'process';
  style: AgentStyle;
  /** How many steps the agent works on a prompt. */
  work: number;
  /** How late the agent's own record shows a prompt, ms. Panes only. */
  recordLag: number;
  /** How an envelope travels. */
  way: 'inbox' | 'spool' | 'bus';
  /** The agent may speak by nothing but the bus. */
  busOnly?: boolean;
  /** The drivers have no bus. */
  busless?: boolean;
  /** Nothing can be said about a running turn. Processes only. */
  blind?: boolean;
  /** The session checks the fence together with the act. False: a transport that cannot. */
  fenced?: boolean;
  /** The look that allows a key and the key are one action. False: the look comes before the mark. Panes only. */
  sameBreath?: boolean;
}

export type Meddling = 'draft' | 'clear' | 'person-submits' | 'dialog' | 'answer' | 'close-pane' | 'hide' | 'show';

export interface WorldParts {
  options: WorldOptions;
  scheduler: Scheduler;
  desk: Desk;
  /** By the registry, whoever asks. */
  epochOf(job: string): number;
}

export interface World {
  /** Prompts that reached an agent, `a/1` → how often: its own count. */
  readonly received: Map<string, number>;
  readonly breaches: string[];
  /** The same place, reached by one process. */
  transportFor(life: Life): Transport;
  /** One step of every agent's life. */
  step(): Promise<void>;
  meddle(what: Meddling): void;
  /** From here on the agents only work and never speak. */
  deafen(): void;
  /** From here on a person tidies up now and then. */
  beKind(): void;
  /** How long, ms, an onlooker has been able to see this attempt's turn work; 0 if he cannot. */
  visiblyWorking(job: string, attempt: number): number;
  /** What is still there and should not be, once every row is tidied up. */
  leftovers(): string[];
}

export const addressOf = ({ job, attempt }: { job: string; attempt: number }): string => `${job}/${attempt}`;
