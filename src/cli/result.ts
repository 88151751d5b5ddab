// How a job ended, for stdout: one object or a few lines.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../machines/job/exit.ts';
import { specOf } from '../jobs/spec.ts';
import type { Registry, Row } from '../kernel/ports.ts';
import { attemptPaths } from '../signals/paths.ts';
import { agentOutput } from './agent-output.ts';
import type { Context } from './context.ts';
import { formatDuration } from './durations.ts';
import { noNews, readNews } from './news.ts';
import { detailOf, exitOf, statusObject } from './status.ts';
import { plain } from './text.ts';

/** Prints an ended row and gives its exit code. */
export async function printResult(ctx: Context, registry: Registry, row: Row): Promise<number> {
  const { out } = ctx;
  const exit = exitOf(row) ?? EXIT.failed;
  const files = await reportFiles(row);
  if (out.json) {
    out.object({ ...statusObject(row, []), report: files[0] ?? null, files });
    return exit;
  }
  const { startedAt } = await readNews(registry, row.id, noNews);
  const took = formatDuration(row.since - (startedAt ?? row.createdAt));
  const word = exit === EXIT.ok ? out.ink.green(row.phase) : out.ink.red(row.phase);
  out.print(`${row.id} ${word} (${row.outcome?.reason ?? 'unknown'}) after ${took}`);
  const detail = detailOf(row);
  if (detail !== null) out.print(`  ${plain(detail)}`);
  if (files[0]) out.print(`  report: ${files[0]}`);
  for (const artifact of files.slice(1)) out.print(`  artifact: ${artifact}`);
  if (exit !== EXIT.ok) await showOutput(ctx, row);
  if (exit === EXIT.undelivered)
    out.say(`nothing was sent; once the cause is gone: stepward redispatch ${row.id} && stepward resume ${row.id}`);
  else if (exit !== EXIT.ok)
    out.say(`why: stepward explain ${row.id} · again: stepward redispatch ${row.id} && stepward resume ${row.id}`);
  return exit;
}

/** A failure is most often told by what the agent printed last. */
async function showOutput(ctx: Context, row: Row): Promise<void> {
  const printed = await agentOutput((await ctx.registryPlace()).dir, row);
  if (!printed) return;
  ctx.out.say(`its last output (all of it: stepward logs ${row.id} --output):`);
  for (const line of printed.tail) ctx.out.say(`  | ${line}`);
}

/**
 * Absolute paths of the report and its artifacts, report first; none where the attempt did not complete. A manifest that is no
 * longer the one that was verified is not shown as if it were.
 */
export async function reportFiles(row: Row): Promise<string[]> {
  const { manifest } = row.snapshot.context;
  if (row.phase !== 'completed' || typeof manifest !== 'string') return [];
  const { cwd } = specOf(row);
  try {
    const bytes = await readFile(attemptPaths({ cwd, job: row.id, attempt: row.attempt }).manifest);
    if (createHash('sha256').update(bytes).digest('hex') !== manifest) return [];
    const { files } = JSON.parse(bytes.toString('utf8')) as { files: { path: string }[] };
    return files.map(({ path }) => join(cwd, path));
  } catch {
    // Removed since: the job completed all the same, and the log has the hash.
    return [];
  }
}
