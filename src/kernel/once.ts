// The words of the once protocol (section 4, "Effects"). The protocol itself is in effect-env.ts.

export type StepOutcome =
  | 'done'
  /** This driver knows that it did not act. */
  | 'withheld'
  /** Somebody started the step and left no result: it may have happened, and must be inspected. */
  | 'unproven'
  /** The epoch, the attempt or the right to act is gone. */
  | 'lost';

export interface OnceStep {
  name: string;
  /** Looks once more, right before the act and in the same breath; false: withheld. */
  may?: () => boolean | Promise<boolean>;
  act: () => void | Promise<void>;
  /** How long the act may take at the most, ms: until then another driver must not conclude that it did not happen. */
  limitMs: number;
}

export interface StepInspection {
  state: 'not-started' | 'done' | 'withheld' | 'open';
  /** The driver that started it is proven dead, or its lease and the step's own time limit are over: it may be taken over. */
  gone: boolean;
  /** No process can perform the step any more: its driver is proven dead, or has said how it ended. Only this proves "nothing was
   *  sent"; an ended lease does not, since a sleeper may wake and act. */
  dead?: boolean;
}
