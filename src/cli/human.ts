// What a person needs who is the agent: the brief and the commands to answer with.

import { agentCommand } from '../jobs/installation.ts';
import { specOf } from '../jobs/spec.ts';
import type { Row } from '../kernel/ports.ts';
import { attemptPaths } from '../signals/paths.ts';
import { quote } from '../transports/quote.ts';

export interface Answering {
  cwd: string;
  brief: string;
  report: string;
  commands: string[];
}

export function answeringOf(row: Row): Answering {
  const { cwd } = specOf(row);
  const { brief, report } = attemptPaths({ cwd, job: row.id, attempt: row.attempt });
  const address = `--job ${row.id} --attempt ${row.attempt}`;
  const emit = `${agentCommand()} emit`;
  return {
    cwd,
    brief,
    report,
    commands: [
      `${emit} progress ${address} --detail "what you are doing"`,
      `${emit} completed ${address} --report ${quote(report)}`,
      `${emit} failed ${address} --detail "why"`,
    ],
  };
}

/** A person has the brief in hand as soon as its delivery is over. */
export const isHandedOver = (row: Row): boolean =>
  row.session.startsWith('human:') && row.phase === 'injected' && !row.state.startsWith('injected.submitting');

export function humanLines(row: Row): string[] {
  const { cwd, brief, commands } = answeringOf(row);
  return [`brief: ${brief}`, `answer from ${cwd}:`, ...commands.map((command) => `  ${command}`)];
}
