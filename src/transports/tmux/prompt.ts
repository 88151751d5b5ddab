// The lines that are typed. Short and plain: agents fold, cut or interpret long ones. Both carry the attempt's address, so that no
// two attempts type the same text and a receipt can only be for this one.
import type { Place } from '../transport.ts';

/** Unique to the attempt. */
export const nonceOf = ({ job, attempt }: Place): string => `${job}/${attempt}`;

export const promptLine = (place: Place): string =>
  `Please read the file ${place.brief} and do what it says. [stepward ${nonceOf(place)}]`;

export const reminderLine = (place: Place): string =>
  `Stepward has no report from you yet: finish the task, then report as ${place.brief} says. [stepward ${nonceOf(place)}, reminder]`;
