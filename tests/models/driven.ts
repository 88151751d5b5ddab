// A third system under test: a row in the SQLite registry, moved by the kernel's own parts (handle, drain, reconcile, the once
// protocol), with effects that wait for the test. A driver can be killed at any moment, also in the middle of a commit.
import { jobDefinition } from '../../src/jobs/definition.ts';
import type { EffectEnv } from '../../src/kernel/context.ts';
import { drain } from '../../src/kernel/drain.ts';
import { handle } from '../../src/kernel/handle.ts';
import { migrationChange } from '../../src/kernel/migrate.ts';
import type { StepOutcome } from '../../src/kernel/once.ts';
import type { Answer, Clock, OutsideRequest, Registry, Request, Row, TimerRow } from '../../src/kernel/ports.ts';
import { internal, type ModelEvent, NEWS } from './events.ts';
import { KEY, type Kill, Killed, MortalDriver } from './mortal-driver.ts';
import { fromAgent, fromPerson } from './requests.ts';
import type { Stored } from './stored.ts';

export type { Kill };

const TTL_MS = 1e9;
let names = 0;

export class DrivenJob {
  readonly id = `m${String(++names).padStart(6, '0')}`;
  readonly warnings: string[] = [];
  /** How often each once step was really acted out. */
  readonly acts = new Map<string, number>();
  readonly #registry: Registry;
  readonly #clock: Clock;
  #driver: MortalDriver | null = null;
  #requests = 0;

  private constructor(registry: Registry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** A job that is where `stored` is, timers and open effects included, with one driver. */
  static async at(registry: Registry, clock: Clock, stored: Stored): Promise<DrivenJob> {
    const job = new DrivenJob(registry, clock);
    const log = { from: 'kernel', what: 'registered', verdict: 'take' } as const;
    // `stored.now`: the timers keep what is left of them.
    const { migrateTo: _, ...change } = migrationChange(jobDefinition, stored, stored.now, log);
    await registry.insert({ id: job.id, machine: 'job@1', session: `human:${job.id}`, spec: null }, change);
    await job.adopt();
    return job;
  }

  get driver(): MortalDriver {
    if (!this.#driver) throw new Error('nobody drives it');
    return this.#driver;
  }

  /** Another driver takes over; the former one is dead. */
  async adopt(): Promise<void> {
    this.#driver?.kill();
    const record = { id: `d${++names}`, host: 'h', pid: names, started: String(names), build: 'test' };
    const epoch = await this.#registry.claim(this.id, record, TTL_MS, TTL_MS, () => true);
    if (epoch === null) throw new Error('the row could not be claimed');
    await this.#registry.mintKey({ id: this.id, epoch, attempt: (await this.row()).attempt }, KEY);
    this.#driver = new MortalDriver(this.#registry, this.#clock, record, this.id, epoch, this.warnings);
    await this.#driver.reconciled();
  }

  /** A second process that believes in the same lease: it has read the row before the first one commits. */
  async shadow(): Promise<MortalDriver> {
    const { record, held } = this.driver;
    const twin = new MortalDriver(this.#registry, this.#clock, record, this.id, held.epoch, this.warnings);
    twin.held.cached = await this.row();
    return twin;
  }

  async row(): Promise<Row> {
    const row = await this.#registry.load(this.id);
    if (!row) throw new Error(`job ${this.id} is gone`);
    return row;
  }

  timers = (): Promise<TimerRow[]> => this.#registry.timers(this.id);

  /** Effects the machine waits for, by the outbox. */
  async open(): Promise<string[]> {
    return (await this.#registry.openWork(this.id))
      .flatMap(({ kind, invokeId }) => (kind === 'invoke' ? [invokeId] : []))
      .sort();
  }

  /** Effects that really run in the driver; cleanup is not the machine's. */
  running(): string[] {
    return [...this.driver.waiting.keys()].filter((name) => name !== 'cleanup').sort();
  }

  /** A kernel request for an event, made before anything else happens: what raced has read the same row. */
  async request(event: ModelEvent): Promise<Request> {
    const { kind, name } = internal(event.type);
    if (kind === 'timer') {
      const timer = (await this.timers()).find(({ id }) => id === event.type);
      if (!timer) throw new Error(`no timer ${event.type}`);
      return { from: 'clock', timer };
    }
    if (NEWS.includes(event.type) || event.type === 'completed' || event.type === 'failed')
      return this.#fromAgent(event);
    if (event.type === 'cancelled' || event.type === 'deadline_timeout') return this.#fromPerson(event);
    const work = await this.#registry.openWork(this.id);
    const mine =
      kind === null ? work.find((open) => open.kind === 'invoke') : work.find(({ invokeId }) => invokeId === name);
    return { from: 'effect', outboxId: mine?.id ?? 0, event: event as never };
  }

  #fromAgent(event: ModelEvent): OutsideRequest {
    const { envelope } = fromAgent(event.type, event as { seq?: number });
    const id = `${this.id}-e${++this.#requests}`;
    return { from: 'agent', id, envelope: { ...envelope, id, job: this.id } };
  }

  #fromPerson({ type, ...extra }: ModelEvent): OutsideRequest {
    return { ...fromPerson(type, extra), id: `${this.id}-p${++this.#requests}` };
  }

  /** Plays one event as it would come: by the inbox, from a running effect, from a timer that stands. */
  async play(event: ModelEvent, kill: Kill | null = null, known?: Request): Promise<Answer | null> {
    const request = known ?? (await this.request(event));
    if (request.from === 'agent' || request.from === 'person') return this.#playRequest(request, kill);
    await this.#surviving(kill, () => this.#playInside(event, request));
    return null;
  }

  async #playInside(event: ModelEvent, request: Request): Promise<void> {
    const { context, waiting } = this.driver;
    const { kind, name } = internal(event.type);
    if (kind === 'done' || kind === 'error') return this.#settle(name, kind, event);
    const stepOf = event.type === 'step.started' && (event.step === 'remind-paste' ? 'remind' : 'inject');
    const by = stepOf ? waiting.get(stepOf) : [...waiting.values()][0];
    if (request.from === 'clock' || !by) await handle(context, this.id, request);
    else if (stepOf) await this.step(by.env, String(event.step));
    else await by.env.report(event as never);
  }

  async #playRequest(request: OutsideRequest, kill: Kill | null): Promise<Answer | null> {
    await this.#registry.deliver(request, this.id, 'inbox');
    await this.#surviving(kill, () => drain(this.driver.context, this.driver.held));
    return (await this.#registry.inboxRow(request.id))?.answer ?? null;
  }

  /** The once protocol, as an effect would use it; counts what is really acted out. */
  step(env: EffectEnv, name: string): Promise<StepOutcome> {
    const act = () => void this.acts.set(name, (this.acts.get(name) ?? 0) + 1);
    return env.once({ name, act, limitMs: 1_000 });
  }

  async #settle(name: string, kind: 'done' | 'error', event: ModelEvent): Promise<void> {
    const { waiting, held } = this.driver;
    const mine = waiting.get(name);
    const task = [...held.tasks.values()].find(({ work }) => work.invokeId === name);
    if (!mine || !task) throw new Error(`effect ${name} does not run`);
    waiting.delete(name);
    if (kind === 'done') mine.end(event.output);
    else mine.fail(new Error((event.error as { message: string }).message));
    // A dead driver’s task never ends: it would try again, if there were still somebody to try.
    await Promise.race([task.done, this.driver.died]);
    if (this.driver.isDead) throw new Killed('killed');
  }

  /** Does it; if the driver dies on the way, another one takes over and does what is still to be done. */
  async #surviving(kill: Kill | null, act: () => Promise<unknown>): Promise<void> {
    const { version } = await this.row();
    this.driver.killAt = kill;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Killed) || kill === null) throw error;
      await this.adopt();
      if ((await this.row()).version === version) await act();
    }
    this.driver.killAt = null;
    await this.driver.reconciled();
  }

  /** `b` is decided by another process between this one's reading and its commit of `a`. */
  async race(a: ModelEvent, b: ModelEvent): Promise<[Answer | null, Answer | null]> {
    const [first, second] = [await this.request(a), await this.request(b)];
    const twin = await this.shadow();
    const answer = await handle(twin.context, this.id, second);
    const loser = await handle(this.driver.context, this.id, first);
    await this.driver.reconciled();
    return [loser, answer];
  }
}
