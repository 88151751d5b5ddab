import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import { formatDuration } from '../durations.ts';
import { type Explanation, explain } from '../explanation.ts';
import { nameOf } from '../holder.ts';
import { resolveJob } from '../ids.ts';
import type { Output } from '../io.ts';

export const define: Define = (command, run) => {
  command
    .argument('[job]', 'id, unique prefix, or @last', '@last')
    .addHelpText('after', examples('stepward explain @last', 'stepward explain k7f3 --json'))
    .action((text: string) =>
      run(async ({ out, registry: open, registryPlace }) => {
        const registry = await open();
        const job = await resolveJob(registry, text);
        const explanation = await explain(registry!, job, (await registryPlace()).dir);
        if (out.json) out.object(explanation);
        else print(out, explanation, registry!.now());
        return EXIT.ok;
      }),
    );
};

function print(
  out: Output,
  { id, status, state, waitsFor, since, timers, driver, ...rest }: Explanation,
  now: number,
): void {
  const ago = formatDuration(now - Date.parse(since));
  const stands = status === state ? status : `${status} (${state})`;
  // Nobody looks: what was last seen must not sound as if it were so now.
  const left = rest.open && driver === null;
  const is = left ? `was ${stands} when it was last driven,` : `is ${stands}`;
  out.print(`${out.ink.bold(id)} ${is} since ${since}, ${ago} ago: ${waitsFor}.`);
  if (rest.asks) out.print(`  it asks: ${rest.asks}`);
  if (rest.lastSaid) out.print(`  it said last: ${rest.lastSaid}`);
  if (rest.output) {
    out.print(`  it printed last (all of it: stepward logs ${id} --output):`);
    for (const line of rest.output.tail) out.print(`    | ${line}`);
  }
  if (rest.hold) out.print(`  held: ${rest.hold}, so nothing is typed`);
  if (rest.reason) out.print(`  exit ${rest.exit}, ${rest.reason}${rest.detail ? `: ${rest.detail}` : ''}`);
  for (const { at, happens } of timers)
    out.print(`  until ${at} (in ${formatDuration(Date.parse(at) - now)}), then: ${happens}`);
  if (timers.length === 0 && rest.open) out.print('  no clock runs');
  if (rest.quarantine) out.print(`  session ${rest.session} is quarantined: ${rest.quarantine}`);
  if (rest.queuedBehind) out.print(`  session ${rest.session} is held by ${rest.queuedBehind}`);
  if (rest.faulted) out.print(`  faulted: ${rest.faulted}`);
  if (rest.open) out.print(driver ? `  driven by ${nameOf(driver)}` : out.ink.yellow('  no live driver holds it'));
  for (const { at, what, from, verdict, reason } of rest.refused) {
    out.print(`  ${verdict} at ${at}: ${what} from ${from}${reason ? `, because ${reason}` : ''}`);
  }
  for (const [index, { command, why }] of rest.canDo.entries()) {
    out.print(`  ${index === 0 ? 'you can:' : '        '} ${out.ink.bold(command)}   ${out.ink.dim(why)}`);
  }
}
