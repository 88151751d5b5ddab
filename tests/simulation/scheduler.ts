// One scheduler for everything that happens in a simulated world. Each pause of the production code passes a gate; with its seed
// the scheduler picks which one opens next and lets the code run on until all of it waits again. Time moves here and nowhere else.
import { mulberry } from './random.ts';

/** A process of the simulated machine: a driver, a command. */
export interface Life {
  readonly id: string;
  /** False: killed. Its gates never open again, whatever it was about to do. */
  alive: boolean;
  /** Stalled until then (simulated ms): its gates stay shut, and open afterwards as if nothing had been. */
  asleepUntil: number;
  /** Until then (simulated ms) nothing that it writes to the registry finds room. */
  diskFullUntil?: number;
  /** It was stopped in good order and drives nothing any more. */
  retired?: boolean;
}

interface Waiting {
  life: Life;
  label: string;
  notBefore: number;
  counted: boolean;
  open(): void;
}

/** Not zero, so that a forgotten default stands out against a time. */
const START_MS = 1_000_000;
/** The most that passes between two gates, ms, where nothing waits for a later time. */
const JITTER_MS = 40;

export class Scheduler {
  now = START_MS;
  /** How often each place was reached. */
  readonly visits = new Map<string, number>();
  /** The places in the order in which they were reached. */
  readonly trail: { label: string; nth: number }[] = [];
  private readonly random: () => number;
  private readonly waiting: Waiting[] = [];

  constructor(
    seed: number,
    /** Told when a gate is about to open; it may kill or stall the life, or change the world. Gives how long this one gate
     *  stays shut, ms, while the rest of its process goes on: a slow disk, a slow key. */
    private readonly reached: (label: string, nth: number, life: Life) => Promise<number>,
  ) {
    this.random = mulberry(seed);
  }

  choose(count: number): number {
    return Math.floor(this.random() * count);
  }

  elapsed(): number {
    return this.now - START_MS;
  }

  /** A gate. What is killed never comes through. */
  pass(life: Life, label: string): Promise<void> {
    return new Promise((resolve) => this.add(life, label, this.now, resolve));
  }

  /** Resolves after `ms`, or once the signal aborts: both through a gate. */
  sleep(life: Life, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const entry = this.add(life, 'slept', this.now + (signal?.aborted ? 0 : Math.max(0, ms)), () => {
        signal?.removeEventListener('abort', hurry);
        resolve();
      });
      const hurry = () => {
        entry.notBefore = Math.min(entry.notBefore, this.now);
      };
      signal?.addEventListener('abort', hurry, { once: true });
    });
  }

  /** Runs a callback of a life some time later. */
  later(life: Life, label: string, run: () => void): void {
    this.add(life, label, this.now, run);
  }

  /** Opens one gate and lets everything run until it waits again. False: no gate can open at this time. */
  async openOne(): Promise<boolean> {
    const ready = this.waiting.filter((entry) => this.isReady(entry));
    const picked = ready[this.choose(ready.length)];
    if (!picked) return false;
    if (!picked.counted) {
      picked.counted = true;
      const nth = (this.visits.get(picked.label) ?? 0) + 1;
      this.visits.set(picked.label, nth);
      if (picked.label !== 'slept') this.trail.push({ label: picked.label, nth });
      picked.notBefore = this.now + (await this.reached(picked.label, nth, picked.life));
      if (!this.isReady(picked)) return true;
    }
    this.waiting.splice(this.waiting.indexOf(picked), 1);
    this.now += this.choose(JITTER_MS);
    picked.open();
    await allWaits();
    return true;
  }

  /** Somebody is still in the middle of a slow act. */
  hasSlowGate(): boolean {
    return this.waiting.some(({ life, label, notBefore }) => life.alive && label !== 'slept' && notBefore > this.now);
  }

  /** When the next gate can open, or null if none ever will. */
  nextTime(): number | null {
    const times = this.waiting
      .filter(({ life }) => life.alive)
      .map(({ life, notBefore }) => Math.max(life.asleepUntil, notBefore));
    return times.length === 0 ? null : Math.max(this.now, Math.min(...times));
  }

  /** The gates of a killed life are forgotten, and with them the code behind them. */
  kill(life: Life): void {
    life.alive = false;
    for (let i = this.waiting.length - 1; i >= 0; i--) if (this.waiting[i]?.life === life) this.waiting.splice(i, 1);
  }

  private isReady({ life, notBefore }: Waiting): boolean {
    return life.alive && life.asleepUntil <= this.now && notBefore <= this.now;
  }

  private add(life: Life, label: string, notBefore: number, open: () => void): Waiting {
    const entry: Waiting = { life, label, notBefore, counted: false, open };
    if (life.alive) this.waiting.push(entry);
    return entry;
  }
}

/** Every microtask has run: each call in flight has come to its next gate. */
export const allWaits = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
