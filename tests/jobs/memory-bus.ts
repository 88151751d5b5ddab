// A bus in memory that keeps the promises of src/signals/bus/types.ts: what the effects see of one is moved by the test.
import type { Bus, BusStatus } from '../../src/signals/bus/types.ts';

export class MemoryBus implements Bus {
  readonly prefix = 'test';
  #status: BusStatus = { up: false, why: null };
  #heard = new Set<string>();
  #waiting = new Set<() => void>();

  /** Null: the first connection is being made. */
  away(why: string | null): void {
    this.#status = { up: false, why };
    this.#heard.clear();
    this.#tell();
  }

  /** Connected; `heard`: the jobs whose subscription the broker has confirmed. */
  there(...heard: string[]): void {
    this.#status = { up: true };
    this.#heard = new Set(heard);
    this.#tell();
  }

  /** How many wait for a change: none may be left behind. */
  get waiting(): number {
    return this.#waiting.size;
  }

  status = (): BusStatus => this.#status;
  hears = (job: string): boolean => this.#status.up && this.#heard.has(job);

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  follow = (): void => {};
  unfollow = (): void => {};
  agentAddress = () => null;
  generation = (): number => 1;
  publish = async (): Promise<void> => {};
  stop = async (): Promise<void> => {};

  #tell(): void {
    for (const done of [...this.#waiting]) done();
  }
}
