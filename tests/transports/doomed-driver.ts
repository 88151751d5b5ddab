// A driver process that kills itself where it is told to: `doomed-driver.ts <json>`.
import { systemClock } from '../../src/kernel/clock.ts';
import { createHeadless } from '../../src/transports/headless/headless.ts';
import type { Place } from '../../src/transports/transport.ts';
import { createStepBook, type HandOptions } from './hand.ts';

export interface Doom {
  launcher: string;
  marksDir: string;
  place: Place;
  dies: NonNullable<HandOptions['dies']>;
}

const { launcher, marksDir, place, dies } = JSON.parse(process.argv[2] ?? '') as Doom;
const transport = createHeadless({ launcher, marksDir, clock: systemClock });
const owner = { registry: 'r1', job: place.job, attempt: place.attempt, epoch: 1, pid: process.pid, started: 'x' };
const fence = await transport.takeMark(place, owner, async () => true);
if (!fence) throw new Error('the mark was not given');
const die = () => process.kill(process.pid, 'SIGKILL');
await transport.inject(place, createStepBook().hand({ driver: 'doomed', fence, dies, die }));
