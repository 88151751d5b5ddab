import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { RefusedError, UsageError } from '../errors.ts';
import { resolveJobs } from '../ids.ts';
import { watchInterrupts } from '../interrupts.ts';
import { registrySource } from '../watch/registry-source.ts';
import type { Source } from '../watch/source.ts';
import { changeLine, gistOf, picture } from '../watch/view.ts';

/** The times in the picture grow even if nothing happens. */
const REPAINT_MS = 1_000;

export const define: Define = (command, run) => {
  command
    .argument('[job...]', 'ids, unique prefixes, or @last; default: everything that is open')
    .option('--bus', 'from the broker instead of the registry (STEPWARD_MQTT_URL, or the config)')
    .addHelpText(
      'after',
      `${examples('stepward watch', 'stepward watch @last', 'stepward watch --json | jq .state', 'STEPWARD_MQTT_URL=mqtts://broker.example stepward watch --bus')}

On a terminal a picture that is painted anew; else a line for each change, or with --json the job's status for each.
Ends when the named jobs have ended (exit 0, whatever their end: stepward wait tells that), else with Ctrl-C.`,
    )
    .action((texts: string[], { bus = false }: { bus?: boolean }) => run((ctx) => watch(ctx, texts, bus)));
};

async function watch(ctx: Context, texts: readonly string[], bus: boolean): Promise<number> {
  const { out } = ctx;
  const interrupts = watchInterrupts();
  const stop = AbortSignal.any([interrupts.signal, out.unread]);
  const source = bus ? await fromBus(ctx, texts) : await fromRegistry(ctx, texts);
  const show = out.json || !out.screen ? lines(ctx, source) : painting(ctx, source);
  try {
    for (;;) {
      const seen = await source.read();
      await show.show(seen);
      const over = texts.length > 0 && seen.length >= texts.length && seen.every(({ state }) => state.exit !== null);
      if (over || stop.aborted) return EXIT.ok;
      await source.next(stop);
    }
  } finally {
    show.end();
    await source.close();
    interrupts.close();
  }
}

async function fromRegistry(ctx: Context, texts: readonly string[]): Promise<Source> {
  const registry = await ctx.registry();
  const { dir } = await ctx.registryPlace();
  if (!registry) throw new RefusedError(`no registry in ${dir} yet; from a broker: stepward watch --bus`);
  const jobs = texts.length === 0 ? null : await resolveJobs(registry, texts);
  return registrySource(registry, dir, jobs, ctx.out.ink);
}

async function fromBus(ctx: Context, texts: readonly string[]): Promise<Source> {
  const settings = await ctx.busSettings();
  if (settings.kind === 'off') {
    const allowed = 'a broker (STEPWARD_MQTT_URL, bus.url in the config), or no --bus';
    throw new UsageError({ option: '--bus', problem: 'finds no broker: the bus is off', allowed });
  }
  const bad = texts.find((text) => text !== '@last' && !/^[A-Za-z0-9]+$/.test(text));
  if (bad !== undefined) {
    throw new UsageError({ option: 'job', value: bad, problem: 'is no job', allowed: 'ids, prefixes of ids, @last' });
  }
  const { busSource } = await import('../watch/bus-source.ts');
  return busSource(settings, (await ctx.registryPlace()).dir, texts.length === 0 ? null : texts);
}

interface Show {
  show(seen: Awaited<ReturnType<Source['read']>>): Promise<void>;
  end(): void;
}

function lines({ out }: Context, source: Source): Show {
  const before = new Map<string, string>();
  return {
    async show(seen) {
      for (const one of seen) {
        const gist = gistOf(one);
        if (before.get(one.state.id) === gist) continue;
        before.set(one.state.id, gist);
        if (out.json) out.object(one.object);
        else out.print(changeLine(one, source.now(), out.ink));
      }
    },
    end() {},
  };
}

function painting({ io, out }: Context, source: Source): Show {
  let last: Awaited<ReturnType<Source['read']>> = [];
  let paint: ((text: string) => void) & { done?: () => void } = () => {};
  const repaint = () => paint(picture(last, source.label(), source.now(), out.width, out.ink).join('\n'));
  const timer = setInterval(repaint, REPAINT_MS);
  return {
    async show(seen) {
      if (!paint.done) {
        const { createLogUpdate } = await import('log-update');
        paint = createLogUpdate(io.stdout as NodeJS.WriteStream);
      }
      last = seen;
      repaint();
    },
    end() {
      clearInterval(timer);
      paint.done?.();
    },
  };
}
