// What a person can do about a row, as commands, the most useful first.
import { EXIT } from '../../machines/job/exit.ts';
import type { Row } from '../kernel/ports.ts';
import { isFaulted } from './holder.ts';
import { answeringOf, isHandedOver } from './human.ts';
import { exitOf, isEnded } from './status.ts';

export interface NextStep {
  command: string;
  why: string;
}

/** `driven`: a live driver holds the row. */
export function nextSteps(row: Row, driven: boolean): NextStep[] {
  const step = (command: string, why: string): NextStep => ({ command, why });
  const resume = step(`stepward resume ${row.id}`, 'drive it: nobody does');
  const logs = step(`stepward logs ${row.id}`, 'read what happened');
  if (isEnded(row)) {
    const steps = row.cleanup === 'open' && !driven ? [step(resume.command, 'clean up after it: nobody does')] : [];
    if (row.cleanup === 'open') return [...steps, logs];
    const exit = exitOf(row);
    if (exit === EXIT.ok) return [step(`stepward status ${row.id}`, 'see its report')];
    const why = exit === EXIT.undelivered ? 'try again: nothing was sent' : 'try again, as a new attempt';
    return [step(`stepward redispatch ${row.id} && stepward resume ${row.id}`, why), logs];
  }
  const cancel = step(`stepward cancel ${row.id}`, 'end it');
  if (isFaulted(row)) return [cancel, logs];
  const answer = isHandedOver(row)
    ? answeringOf(row)
        .commands.slice(1)
        .map((command) => step(command, `answer, from ${answeringOf(row).cwd}`))
    : [];
  if (!driven) return [resume, ...answer, cancel];
  return [
    ...answer,
    step(`stepward logs -f ${row.id}`, 'watch it'),
    step(`stepward wait ${row.id}`, 'wait for its end'),
    cancel,
  ];
}
