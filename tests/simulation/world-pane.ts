// One pane with a composer, a dialog now and then, an agent that queues what is submitted, and a person at the same keyboard.
// It knows the promises that must hold at the moment of a key press and notes every breach.
import type { Fence, Owner, Place } from '../../src/transports/transport.ts';
import { type Turn, work } from './agent.ts';
import { paneTransport } from './pane-transport.ts';
import type { Life } from './scheduler.ts';
import { addressOf, type Meddling, type World, type WorldParts } from './world.ts';

interface Part {
  by: 'us' | 'person';
  text: string;
}

/** What a screen and the agent's record show. */
export interface Screen {
  alive: boolean;
  readable: boolean;
  dialog: boolean;
  busy: boolean;
  composer: string;
  /** Prompts in the agent's record, oldest first; it lags behind. */
  prompts: string[];
}

const PERSONS_PROMPT = 'a prompt of the person';

export class PaneWorld implements World {
  readonly received = new Map<string, number>();
  readonly breaches: string[] = [];
  private alive = true;
  private readable = true;
  private dialog = false;
  private composer: Part[] = [];
  private turn: (Turn & { text: string }) | null = null;
  private queue: string[] = [];
  private record: { text: string; visibleAt: number }[] = [];
  private mark: { number: number; holder: Owner | null } = { number: 0, holder: null };
  /** Who got which number. */
  private readonly owners = new Map<number, Owner>();
  private readonly interrupts = new Map<string, number>();
  private kind = false;
  private steps = 0;
  private visits = 0;

  constructor(readonly parts: WorldParts) {}

  transportFor(life: Life) {
    return paneTransport(this, life);
  }

  // --- what a transport can do ----------------------------------------------------------------------------------------------

  screen(): Screen {
    const { alive, readable, dialog, composer, turn } = this;
    const prompts = this.record
      .filter(({ visibleAt }) => visibleAt <= this.parts.scheduler.now)
      .map(({ text }) => text);
    return {
      alive,
      readable,
      dialog,
      busy: turn !== null,
      composer: composer.map(({ text }) => text).join(''),
      prompts,
    };
  }

  holder(): { number: number; holder: Owner | null } {
    return this.mark;
  }

  /** Compare-and-set. */
  raiseMark(from: number, owner: Owner): boolean {
    if (this.mark.number !== from) return false;
    this.mark = { number: from + 1, holder: owner };
    this.owners.set(from + 1, owner);
    return true;
  }

  dropMark(fence: Fence): void {
    if (this.admits(fence)) this.mark.holder = null;
  }

  admits({ mark }: Fence): boolean {
    return this.parts.options.fenced === false || (this.mark.holder !== null && this.mark.number === mark);
  }

  paste(text: string, place: Place, fence: Fence): void {
    this.act(`paste ${text}`, place, fence, () => {
      if (this.dialog) this.breach('pasted into an open dialog (which approves it)');
      if (this.hasDraft()) this.breach('pasted beside a draft of the person');
      this.composer.push({ by: 'us', text });
    });
  }

  enter(place: Place, fence: Fence): void {
    this.act('enter', place, fence, () => {
      if (this.dialog) {
        this.breach('Enter answered a dialog');
        this.dialog = false;
      } else {
        if (this.hasDraft()) this.breach('Enter submitted a draft of the person');
        this.submit();
      }
    });
  }

  interrupt(place: Place, fence: Fence): void {
    this.act('interrupt', place, fence, () => {
      const times = (this.interrupts.get(addressOf(place)) ?? 0) + 1;
      this.interrupts.set(addressOf(place), times);
      if (times > 1) this.breach('interrupted twice (which quits some agents)');
      if (this.dialog) this.breach('the interrupt answered a dialog');
      if (this.turn?.address === '') this.breach('interrupted a turn of the person');
      // An agent needs a moment to stop.
      if (this.turn) Object.assign(this.turn, { left: Math.min(this.turn.left, 15), stopping: true });
      this.queue = [];
    });
  }

  clear(place: Place, fence: Fence): void {
    this.act('clear', place, fence, () => {
      if (this.hasDraft()) this.breach('cleared a draft of the person');
      this.composer = [];
    });
  }

  // --- the agent and the person -----------------------------------------------------------------------------------------------

  async step(): Promise<void> {
    this.steps += 1;
    if (this.kind && this.steps % 60 === 0) this.tidyUp();
    if (!this.alive || this.dialog) return;
    if (!this.turn) {
      const text = this.queue.shift();
      if (text !== undefined) this.begin(text);
      return;
    }
    const doing = await work(this.parts.desk, this.parts.options, this.turn);
    if (doing === 'asks') this.dialog = true;
    if (doing === 'ends') this.turn = null;
    if (doing === 'exits') this.meddle('close-pane');
  }

  meddle(what: Meddling): void {
    const now = this.parts.scheduler.now;
    switch (what) {
      case 'draft':
        if (this.alive && !this.dialog) this.composer.push({ by: 'person', text: 'a draft' });
        return;
      case 'clear':
        if (!this.dialog) this.composer = [];
        return;
      case 'person-submits':
        if (this.alive && !this.dialog) this.submit();
        return;
      case 'dialog':
        if (this.alive && this.turn) this.dialog = true;
        return;
      case 'answer':
        if (this.dialog && this.turn) this.turn.since = now;
        this.dialog = false;
        return;
      case 'close-pane':
        Object.assign(this, { alive: false, dialog: false, turn: null, composer: [], queue: [] });
        return;
      case 'hide':
        this.readable = false;
        return;
      case 'show':
        if (!this.readable && this.turn) this.turn.since = now;
        this.readable = true;
        return;
    }
  }

  deafen(): void {
    this.parts.options.style = 'mute';
  }

  beKind(): void {
    this.kind = true;
    this.meddle('show');
  }

  visiblyWorking(job: string, attempt: number): number {
    const { turn, readable, dialog } = this;
    if (!readable || dialog || turn?.address !== addressOf({ job, attempt })) return 0;
    return this.parts.scheduler.now - turn.since;
  }

  leftovers(): string[] {
    return this.composer.some(({ by }) => by === 'us') ? ['our text is still in the composer'] : [];
  }

  private tidyUp(): void {
    this.visits += 1;
    // An agent that never stops is stopped by hand at last, long after every clock of ours.
    if (this.visits > 20 && this.turn) Object.assign(this.turn, { left: 1, stopping: true });
    this.meddle('answer');
    if (this.hasDraft()) this.meddle('clear');
  }

  private submit(): void {
    const parts = this.composer;
    this.composer = [];
    if (parts.length === 0) return;
    for (const { text } of parts.filter(({ by }) => by === 'us')) {
      const times = (this.received.get(text) ?? 0) + 1;
      this.received.set(text, times);
      if (times > 1) this.breach(`received twice: ${text}`);
    }
    this.queue.push(parts.find(({ by }) => by === 'us')?.text ?? PERSONS_PROMPT);
  }

  private begin(text: string): void {
    const [kind, address = ''] = text === PERSONS_PROMPT ? [] : text.split(' ');
    const { now } = this.parts.scheduler;
    const reminder = kind === 'remind';
    this.turn = { text, address, reminder, left: this.parts.options.work, asked: false, since: now, stopping: false };
    this.record.push({ text, visibleAt: now + this.parts.options.recordLag });
  }

  private hasDraft(): boolean {
    return this.composer.some(({ by }) => by === 'person');
  }

  private act(what: string, place: Place, fence: Fence, press: () => void): void {
    if (!this.alive || !this.admits(fence)) return;
    // With a fence this happens only between the new driver's claim and its first look, for which it raises the mark: it then
    // finds the key pressed, as if it had been before.
    const epoch = this.owners.get(fence.mark)?.epoch ?? 0;
    const isFenced = this.parts.options.fenced !== false;
    if (!isFenced && epoch < this.parts.epochOf(place.job)) this.breach(`${what} by a driver without its epoch`);
    press();
  }

  private breach(what: string): void {
    this.breaches.push(`${Math.round(this.parts.scheduler.elapsed() / 1000)} s: ${what}`);
  }
}
