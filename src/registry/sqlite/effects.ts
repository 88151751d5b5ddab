// What rows wait for: open outbox rows, armed timers, marks of once steps.
import type { OutboxRow, Registry, StepRow, TimerRow } from '../../kernel/ports.ts';
import type { Connection } from './connection.ts';
import * as plans from './plans.ts';

type Effects = Pick<Registry, 'openWork' | 'timers' | 'step' | 'steps'>;
type RawOutboxRow = Omit<OutboxRow, 'input' | 'open'> & { input: string; open: number };
type RawTimer = Omit<TimerRow, 'event' | 'silence'> & { event: string; silence: number };

export function createEffects(connection: Connection): Effects {
  return {
    openWork: (job) =>
      connection.read((sql) =>
        sql.all<RawOutboxRow>(plans.LIST_OPEN_WORK, { job }).map((raw) => ({
          ...raw,
          input: JSON.parse(raw.input) as OutboxRow['input'],
          open: raw.open === 1,
        })),
      ),
    timers: (job) =>
      connection.read((sql) =>
        sql.all<RawTimer>(plans.LIST_TIMERS, { job }).map((raw) => ({
          ...raw,
          event: JSON.parse(raw.event) as TimerRow['event'],
          silence: raw.silence === 1,
        })),
      ),
    step: (job, attempt, step) => connection.read((sql) => sql.get<StepRow>(plans.LOAD_STEP, { job, attempt, step })),
    steps: (job, attempt) => connection.read((sql) => sql.all<StepRow>(plans.LIST_STEPS, { job, attempt })),
  };
}
