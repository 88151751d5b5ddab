// One exit code for several jobs.
import { EXIT } from '../../machines/job/exit.ts';

/** From bad to good. A failure outranks a timeout, which outranks a job that was never sent and can simply be sent again. */
const ORDER: readonly number[] = Object.freeze([
  EXIT.failed,
  EXIT.timedOut,
  EXIT.busAway,
  EXIT.refused,
  EXIT.parked,
  EXIT.undelivered,
  EXIT.ok,
]);

export function worst(codes: readonly number[]): number {
  return ORDER.find((code) => codes.includes(code)) ?? codes[0] ?? EXIT.ok;
}
