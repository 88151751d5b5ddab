// Agents as processes, one for each attempt: started once by a mark of their own, ended by signals. The model of `headless`.
import type { Fence, Look, Owner, Place, Transport } from '../../src/transports/transport.ts';
import { type Turn, work } from './agent.ts';
import type { Life } from './scheduler.ts';
import { addressOf, type Meddling, type World, type WorldParts } from './world.ts';

interface Run {
  /** `void`: nothing was started, and nothing will be. */
  phase: 'running' | 'ended' | 'void';
  turn: Turn;
  /** It asked something and does nothing until somebody answers. */
  waiting: boolean;
}

const START_LIMIT_MS = 30_000;
const NOTHING: Look = { alive: true, hold: null, turn: 'hidden', nonce: false, clean: true, detail: null };

export class ProcessWorld implements World {
  readonly received = new Map<string, number>();
  readonly breaches: string[] = [];
  private readonly runs = new Map<string, Run>();
  private readonly marks = new Map<string, { number: number; holder: Owner | null }>();
  private readable = true;
  private kind = false;
  private steps = 0;

  constructor(private readonly parts: WorldParts) {}

  async step(): Promise<void> {
    this.steps += 1;
    if (this.kind && this.steps % 60 === 0) this.meddle('answer');
    for (const run of this.runs.values()) {
      if (run.phase !== 'running' || run.waiting) continue;
      const doing = await work(this.parts.desk, this.parts.options, run.turn);
      run.waiting = doing === 'asks';
      if (doing === 'ends' || doing === 'exits') run.phase = 'ended';
    }
  }

  meddle(what: Meddling): void {
    const { now } = this.parts.scheduler;
    const running = [...this.runs.values()].filter(({ phase }) => phase === 'running');
    if (what === 'close-pane') for (const run of running) run.phase = 'ended';
    if (what === 'hide') this.readable = false;
    if (what === 'show') this.readable = true;
    if (what === 'answer') {
      for (const run of running.filter(({ waiting }) => waiting)) {
        run.waiting = false;
        run.turn.since = now;
      }
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
    const run = this.runs.get(addressOf({ job, attempt }));
    if (!this.readable || this.parts.options.blind || run?.phase !== 'running' || run.waiting) return 0;
    return this.parts.scheduler.now - run.turn.since;
  }

  leftovers(): string[] {
    return [...this.runs].filter(([, { phase }]) => phase === 'running').map(([address]) => `${address} still runs`);
  }

  transportFor(life: Life): Transport {
    const { scheduler, options } = this.parts;
    const pass = (label: string) => scheduler.pass(life, label);
    return {
      name: 'headless',
      capabilities: {
        observesTurn: options.blind !== true,
        seesDialogs: false,
        ownsAgent: true,
        fences: true,
        reminds: false,
        settleMs: 10_000,
      },
      preflight: () => pass('look'),
      look: async (place) => {
        await pass('look');
        return this.look(place);
      },
      change: (_, ms, signal) => scheduler.sleep(life, ms, signal),
      takeMark: async ({ target }, owner, mayReplace) => {
        for (;;) {
          await pass('mark:before');
          const mark = this.marks.get(target) ?? { number: 0, holder: null };
          if (mark.holder && !(await mayReplace(mark.holder))) return null;
          await pass('mark:raise');
          if ((this.marks.get(target)?.number ?? 0) !== mark.number) continue;
          this.marks.set(target, { number: mark.number + 1, holder: owner });
          await pass('mark:after');
          return { mark: mark.number + 1 };
        }
      },
      dropMark: async ({ target }, fence) => {
        await pass('drop-mark:before');
        const mark = this.marks.get(target);
        if (mark && this.admits(target, fence)) mark.holder = null;
        await pass('drop-mark:after');
      },
      inject: async (place, hand) => {
        const step = await hand.inspect('spawn');
        if (step.state === 'withheld') return 'rejected';
        if (step.state === 'not-started') {
          const outcome = await hand.once({
            name: 'spawn',
            limitMs: START_LIMIT_MS,
            may: async () => {
              await pass('spawn:before');
              return this.admits(place.target, hand.fence);
            },
            act: async () => {
              this.start(place);
              await pass('spawn:after');
            },
          });
          if (outcome === 'withheld') return 'rejected';
          if (outcome === 'lost') return 'unknown';
        }
        await pass('attach');
        const run = this.runs.get(addressOf(place));
        if (run) return run.phase === 'void' ? 'rejected' : 'accepted';
        // Marked, and not started: the mark of the run lets only one start, so it is simply tried again.
        if (!this.admits(place.target, hand.fence)) return 'unknown';
        this.start(place);
        await pass('spawn:again');
        return 'accepted';
      },
      remind: async () => {},
      interrupt: async (place, fence) => {
        await pass('interrupt:before');
        const run = this.runs.get(addressOf(place));
        if (run?.phase === 'running' && this.admits(place.target, fence)) {
          Object.assign(run.turn, { left: Math.min(run.turn.left, 3), stopping: true });
          run.waiting = false;
        }
        await pass('interrupt:after');
      },
      clearOwnText: async () => {},
      reap: async (place, fence) => {
        await pass('reap:before');
        if (this.admits(place.target, fence)) {
          const run = this.runs.get(addressOf(place));
          if (run?.phase === 'running') run.phase = 'ended';
          if (!run) this.runs.set(addressOf(place), this.newRun('void', place));
        }
        await pass('reap:after');
      },
    };
  }

  private look(place: Place): Look {
    const run = this.runs.get(addressOf(place));
    if (!run) return NOTHING;
    if (run.phase === 'void') return { ...NOTHING, alive: false, detail: 'nothing was started' };
    if (run.phase === 'ended') return { ...NOTHING, alive: false, nonce: true, detail: 'exited with code 0' };
    const turn = this.readable && !run.waiting ? 'working' : 'hidden';
    return { ...NOTHING, hold: 'busy', nonce: true, clean: false, turn };
  }

  private start(place: Place): void {
    const address = addressOf(place);
    if (this.runs.has(address)) return;
    this.runs.set(address, this.newRun('running', place));
    const prompt = `prompt ${address}`;
    this.received.set(prompt, (this.received.get(prompt) ?? 0) + 1);
  }

  private newRun(phase: Run['phase'], place: Place): Run {
    const { scheduler, options } = this.parts;
    const address = addressOf(place);
    const turn = { address, reminder: false, left: options.work, asked: false, since: scheduler.now, stopping: false };
    return { phase, turn, waiting: false };
  }

  private admits(target: string, { mark }: Fence): boolean {
    const standing = this.marks.get(target);
    return this.parts.options.fenced === false || (standing?.holder != null && standing.number === mark);
  }
}
