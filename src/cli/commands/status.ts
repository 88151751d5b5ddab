import { EXIT } from '../../../machines/job/exit.ts';
import { type Define, examples } from '../command.ts';
import { formatDuration } from '../durations.ts';
import { resolveJob } from '../ids.ts';
import { logAfter } from '../news.ts';
import { reportFiles } from '../result.ts';
import { statusObject } from '../status.ts';
import { plain } from '../text.ts';

export const define: Define = (command, run) => {
  command
    .argument('[job]', 'id, unique prefix, or @last', '@last')
    .addHelpText(
      'after',
      examples('stepward status @last', 'stepward status k7f3 --json', 'stepward status k7f3 --json | jq -r .token'),
    )
    .action((text: string) =>
      run(async ({ out, registry: open }) => {
        const registry = await open();
        const id = await resolveJob(registry, text);
        const row = (await registry!.load(id))!;
        const status = statusObject(row, await registry!.timers(id));
        const files = await reportFiles(row);
        if (out.json) {
          out.object({ ...status, report: files[0] ?? null, files });
          return EXIT.ok;
        }
        const now = registry!.now();
        const since = `${status.since} (${formatDuration(now - row.since)} ago)`;
        const lines: [string, string | null][] = [
          ['job', `${id}  ${status.title}`],
          ['status', `${status.status}${status.reason ? ` (${status.reason})` : ''}`],
          ['state', `${status.state} since ${since}`],
          ['until', status.until && `${status.until} (in ${formatDuration(Date.parse(status.until) - now)})`],
          ['exit', status.exit === null ? null : String(status.exit)],
          ['detail', status.detail && plain(status.detail)],
          ['report', files[0] ?? null],
          ['attempt', `${status.attempt}, version ${status.version}, token ${status.token}`],
          ['agent', `${status.agent} on ${status.session}`],
          ['cwd', status.cwd],
          ['cleanup', status.cleanup === 'open' ? 'not done yet' : null],
          ['faulted', status.faulted],
          ['log', `${(await logAfter(registry!, id, 0)).length} entries: stepward logs ${id}`],
        ];
        for (const [name, value] of lines) if (value !== null) out.print(`${name.padEnd(8)} ${value}`);
        return EXIT.ok;
      }),
    );
};
