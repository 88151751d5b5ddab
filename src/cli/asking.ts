// A person's request to a job, and the answer in words.
import { EXIT } from '../../machines/job/exit.ts';
import type { Engine } from '../jobs/engine.ts';
import type { Answer } from '../kernel/ports.ts';
import type { Context } from './context.ts';
import { isEnded } from './status.ts';

type Asked = Parameters<Engine['ask']>[1];

/** Prints the answer; gives the exit code: 0 done, or nothing to do any more (section 5: `close` on a finished row); 4 refused. */
export async function ask(ctx: Context, job: string, event: Asked, expects?: number): Promise<number> {
  const engine = await ctx.engine();
  const answer = await engine.ask(job, event, expects);
  const { out } = ctx;
  if (out.json) out.object({ job, request: event.type, ...answer });
  else out.print(`${job}: ${worded(event, answer)}`);
  if (answer.verdict === 'begin') out.say(`nobody drives it yet: stepward resume ${job}`);
  return answer.verdict === 'refused' || (answer.verdict === 'conflict' && event.type === 'redispatch')
    ? EXIT.refused
    : EXIT.ok;
}

function worded(event: Asked, { verdict, version, reason, phase }: Answer): string {
  switch (verdict) {
    case 'take':
      return `${event.type}: committed as version ${version}, now ${phase}`;
    case 'begin':
      return `attempt ${'attempt' in event ? event.attempt : ''} begins (version ${version})`;
    case 'idempotent':
      return `already ${phase} (version ${version}); nothing changed`;
    case 'conflict':
      return `already ${phase} (version ${version}); ${event.type} was logged and changes nothing`;
    case 'refused':
      return `${event.type} refused: ${REASONS[reason ?? ''] ?? reason ?? 'unknown'}${reason === 'not_now' && !isEnded({ phase }) ? ` (it is ${phase})` : ''}`;
  }
}

const REASONS: Readonly<Record<string, string>> = Object.freeze({
  not_now: 'not_now, the job cannot take it where it is',
  other_attempt: 'other_attempt, the job is at another attempt (a redispatch needs a higher number)',
  cleanup_open: 'cleanup_open, the old attempt is not cleaned up yet',
  faulted: 'faulted, this build cannot continue the row',
  malformed: 'malformed',
});
