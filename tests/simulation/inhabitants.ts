// Who runs drivers in a simulation: the host, which adopts what nobody drives, and commands, which come, decide and go.
import { isEnd } from '../../machines/job/vocabulary.ts';
import type { Process, Room } from './machine-room.ts';

const HOST_POLL_MS = 2_000;
const COMMAND_POLL_MS = 250;
/** A command does not wait for a person who must tidy up. */
const PATIENCE_MS = 90_000;

/** Runs until its life ends. */
export function host(room: Room, process: Process): void {
  const { driver, registry, life } = process;
  const live = async () => {
    for (;;) {
      try {
        await driver.adoptAll();
        for (const job of await registry.jobsWithUndecided()) await driver.adopt(job);
      } catch (error) {
        room.warn(`${life.id}: ${String(error)}`);
      }
      await room.scheduler.sleep(life, HOST_POLL_MS);
    }
  };
  live().catch((error: unknown) => room.warn(`${life.id} broke: ${String(error)}`));
}

/** As `stepward cancel` and `close` do it: the request goes to the inbox; where nobody drives, this process claims the row,
 *  decides, tidies up and releases it. Resolves at once; the command goes on by itself. */
export async function command(room: Room, process: Process, event: { type: string }): Promise<void> {
  const { driver, registry, life } = process;
  const id = life.id.replace(' ', '-');
  const run = async () => {
    await registry.deliver({ from: 'person', id, event, by: 'a command' }, 'a', 'inbox');
    while (!(await registry.inboxRow(id))?.answer) {
      await driver.adopt('a', { concludes: true });
      await room.scheduler.sleep(life, COMMAND_POLL_MS);
    }
    for (const until = room.scheduler.now + PATIENCE_MS; driver.held().includes('a') && room.scheduler.now < until; ) {
      const row = await registry.load('a');
      if (!row || !(row.phase === 'finalizing' || isEnd(row.phase)) || row.cleanup === 'done') break;
      await room.scheduler.sleep(life, COMMAND_POLL_MS);
    }
    await driver.stop();
    room.scheduler.kill(life);
  };
  run().catch((error: unknown) => {
    room.warn(`${life.id} broke: ${String(error)}`);
    // Its process ends with the error; one that stayed would keep everybody from coming back.
    room.scheduler.kill(life);
  });
}
