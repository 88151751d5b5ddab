// What a person did wrong, as a sentence that names the option, the value and what is allowed.
import { EXIT } from '../../machines/job/exit.ts';

interface BadInput {
  /** `--timeout`, `STEPWARD_TIMEOUT`, `agents.worker.kind`: where the value came from. */
  option: string;
  /** Absent: it is missing. */
  value?: string | undefined;
  problem: string;
  allowed: string;
}

/** Bad input: exit 64, nothing written. */
export class UsageError extends Error {
  override name = 'UsageError';
  readonly exit: number = EXIT.usage;
  readonly option: string;
  readonly value: string | undefined;
  readonly allowed: string;
  constructor({ option, value, problem, allowed }: BadInput) {
    super(`${option}: ${value === undefined ? '' : `${quoted(value)} `}${problem}; allowed: ${allowed}`);
    this.option = option;
    this.value = value;
    this.allowed = allowed;
  }
}

/** The request was understood and refused (admit, token, attempt): exit 4. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly exit: number = EXIT.refused;
}

const LONGEST_VALUE = 120;

/** A value as it stands in an error: one line, nothing that a terminal would obey, not a whole file. */
export function quoted(value: string): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…"`;
}
