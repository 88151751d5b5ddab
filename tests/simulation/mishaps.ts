// What goes wrong, done to a running simulation.
import type { Row } from '../../src/kernel/ports.ts';
import { command } from './inhabitants.ts';
import { type Process, type Room, startProcess } from './machine-room.ts';
import type { Mishap } from './plan.ts';
import { addressOf } from './world.ts';

const STALL_MS = 40_000;
const LONG_STALL_MS = 400_000;
const FULL_DISK_MS = 20_000;

export interface Stage {
  room: Room;
  startHost(): void;
  /** A redispatch that comes too early is refused; then it is asked again when the job is tidied up. */
  wantsAnother: boolean;
  requests: number;
}

export async function happen(stage: Stage, mishap: Mishap, process: Process | undefined): Promise<void> {
  const { room } = stage;
  const { scheduler, desk, world } = room;
  const row = (await room.registry.load('a')) as Row;
  const address = addressOf({ job: 'a', attempt: row.attempt });
  switch (mishap.do) {
    case 'kill':
      return process && scheduler.kill(process.life);
    case 'stall':
      if (process) process.life.asleepUntil = scheduler.now + STALL_MS;
      return;
    case 'long-stall':
      if (process) process.life.asleepUntil = scheduler.now + LONG_STALL_MS;
      return;
    case 'slow':
      // The scheduler sees to it.
      return;
    case 'stop':
      if (process) void process.driver.stop().then(() => Object.assign(process.life, { retired: true }));
      return;
    case 'full-disk':
      if (process) process.life.diskFullUntil = scheduler.now + FULL_DISK_MS;
      return;
    case 'second-driver':
      return stage.startHost();
    case 'night':
      return absence(room, 200, 5_000);
    case 'absence':
      return absence(room, 180, 1_000);
    case 'short-absence':
      return absence(room, 45, 1_000);
    case 'cancel':
      return ask(stage, { type: 'cancelled' });
    case 'close':
      return ask(stage, { type: 'deadline_timeout' });
    case 'redispatch':
      stage.wantsAnother = true;
      return ask(stage, { type: 'redispatch', attempt: row.attempt + 1 });
    case 'cancel-command':
      return command(room, startProcess(room, 'command'), { type: 'cancelled' });
    case 'close-command':
      return command(room, startProcess(room, 'command'), { type: 'deadline_timeout' });
    case 'duplicate':
      return desk.duplicate(address);
    case 'forge':
      return desk.emit(address, 'failed', { key: 'a guess' });
    case 'old-attempt':
      return desk.emit(address, 'completed', { attempt: row.attempt === 1 ? 7 : row.attempt - 1 });
    case 'deaf-agent':
      world.deafen();
      return;
    case 'bus-away':
      return room.broker.goAway();
    case 'bus-back':
      return room.broker.comeBack();
    case 'bus-blinks':
      room.broker.goAway();
      return room.broker.comeBack();
    default:
      return world.meddle(mishap.do);
  }
}

export function ask(stage: Stage, event: { type: string } | { type: 'redispatch'; attempt: number }): Promise<void> {
  stage.requests += 1;
  return stage.room.desk.deliver({ from: 'person', id: `p${stage.requests}`, event, by: 'a person' }, 'a');
}

/** Nobody drives for a long time; the agents go on, and a person answers what they ask. */
async function absence({ scheduler, processes, world, desk }: Room, steps: number, stepMs: number): Promise<void> {
  for (const { life } of processes) scheduler.kill(life);
  for (let i = 0; i < steps; i++) {
    scheduler.now += stepMs;
    await world.step();
    await desk.step();
    if (i === 12) world.meddle('answer');
  }
}
