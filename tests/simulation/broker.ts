// A broker in memory, and each process's line to it: what src/signals/bus promises (types.ts), with gates where news travel. A
// client learns late that it is cut off, has to connect and to subscribe anew, and may die with a message in its hands.
import type { Envelope, Registry } from '../../src/kernel/ports.ts';
import type { Bus, BusStatus } from '../../src/signals/bus/types.ts';
import { requestOf } from '../../src/signals/envelope.ts';
import type { Life, Scheduler } from './scheduler.ts';

export class Broker {
  isUp = true;
  /** Simulated ms. */
  changedAt = 0;
  /** Which broker it is: a new one knows of nobody. */
  incarnation = 1;
  private readonly lines: Line[] = [];

  constructor(readonly scheduler: Scheduler) {}

  lineFor(life: Life, registry: Registry): Bus {
    const line = new Line(this, life, registry);
    this.lines.push(line);
    return line;
  }

  goAway(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.changedAt = this.scheduler.now;
    for (const line of this.lines) line.cutOff();
  }

  comeBack(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.changedAt = this.scheduler.now;
    this.incarnation += 1;
    for (const line of this.lines) line.connect();
  }

  /** QoS 1 to whoever is subscribed right now; nothing is kept for anybody else. */
  publish(envelope: Envelope): void {
    if (this.isUp) for (const line of this.lines) line.receive(envelope);
  }
}

class Line implements Bus {
  readonly prefix = 'simulated';
  /** The broker's incarnation that it is connected to, as far as it knows. */
  private connectedTo: number | null = null;
  private connections = 0;
  private readonly followed = new Map<string, { onNews: () => void; confirmedBy: number | null }>();
  private waiting: (() => void)[] = [];

  constructor(
    private readonly broker: Broker,
    private readonly life: Life,
    private readonly registry: Registry,
  ) {
    this.connect();
  }

  status(): BusStatus {
    if (this.connectedTo !== null) return { up: true };
    return { up: false, why: this.connections > 0 || !this.broker.isUp ? 'the broker is away' : null };
  }

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => {
        this.waiting = this.waiting.filter((one) => one !== resolve);
        resolve();
      });
    });
  }

  follow(job: string, onNews: () => void): void {
    const known = this.followed.get(job);
    if (known) known.onNews = onNews;
    else this.followed.set(job, { onNews, confirmedBy: null });
    if (!known) this.subscribe(job);
  }

  unfollow(job: string): void {
    if (this.followed.delete(job)) this.tell();
  }

  hears(job: string): boolean {
    return this.connectedTo !== null && this.followed.get(job)?.confirmedBy === this.connectedTo;
  }

  agentAddress = () => null;
  generation = () => this.connections;
  publish = async () => {};
  stop = async () => {};

  connect(): void {
    this.later('bus connects', () => {
      if (!this.broker.isUp || this.connectedTo === this.broker.incarnation) return;
      this.connectedTo = this.broker.incarnation;
      this.connections += 1;
      this.tell();
      for (const job of this.followed.keys()) this.subscribe(job);
    });
  }

  /** It hears of it a little later. */
  cutOff(): void {
    this.later('bus lost', () => {
      if (this.broker.isUp && this.connectedTo === this.broker.incarnation) return;
      this.connectedTo = null;
      this.tell();
    });
  }

  receive(envelope: Envelope): void {
    const { job } = envelope;
    if (this.followed.get(job)?.confirmedBy !== this.broker.incarnation) return;
    this.later('bus message', () => {
      // Trouble with the registry: no receipt, and the agent says it again.
      this.registry.deliver(requestOf(envelope), job, 'bus').then(
        () => this.followed.get(job)?.onNews(),
        () => {},
      );
    });
  }

  private subscribe(job: string): void {
    const to = this.connectedTo;
    if (to === null) return;
    this.later('suback', () => {
      const followed = this.followed.get(job);
      if (!followed || this.connectedTo !== to || this.broker.incarnation !== to) return;
      followed.confirmedBy = to;
      this.tell();
    });
  }

  private tell(): void {
    this.later('bus news', () => {
      for (const resolve of this.waiting.splice(0)) resolve();
    });
  }

  private later(label: string, run: () => void): void {
    this.broker.scheduler.later(this.life, label, run);
  }
}
