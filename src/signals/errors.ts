// What a person or an agent asked that cannot be done. The sentence names the option, its value and what is allowed.

export class InputError extends Error {
  override name = 'InputError';
  constructor(
    readonly option: string,
    readonly value: string | null,
    readonly problem: string,
    readonly allowed: string,
  ) {
    super(`${option}: ${value === null ? '' : `${quoted(value)} `}${problem}; allowed: ${allowed}`);
  }
}

/** One line, nothing a terminal would obey, not a whole file. */
function quoted(value: string): string {
  const text = JSON.stringify(value);
  return text.length <= 120 ? text : `${text.slice(0, 120)}…"`;
}

export type AttemptProblem =
  /** There is no directory of that job and attempt where we may look. */
  | 'not_found'
  /** The attempt's key is not there (it is removed when the attempt ends) or cannot be read. */
  | 'no_key'
  /** The working directory cannot hold the attempt's directory. */
  | 'unusable';

export class AttemptError extends Error {
  override name = 'AttemptError';
  constructor(
    readonly problem: AttemptProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
