// The brief: the file that tells an agent what to do and how to report. What is typed or started only points to it.
import type { JobSpec } from './spec.ts';

export interface BriefInput {
  job: string;
  attempt: number;
  spec: JobSpec;
  /** How this build is called from the agent's shell: `stepward`, or `node "/…/stepward.cjs"`. */
  command: string;
  /** The default report, relative to the working directory. */
  report: string;
}

/** Rendered anew by every driver that runs the preflight, with the same words. */
export function renderBrief({ job, attempt, spec, command, report }: BriefInput): string {
  const address = `--job ${job} --attempt ${attempt}`;
  return `# Job ${job}, attempt ${attempt}

Work in this directory: ${spec.cwd}

## Task

${spec.task.trim()}

## How to report

Run these commands from inside the working directory. They are the only way to be heard: a final message alone is not seen.

- When you begin: \`${command} emit started ${address}\`
- While you work, in one short sentence: \`${command} emit progress ${address} --detail "what you are doing"\`
- If you need a permission or an answer: \`${command} emit permission_required ${address} --detail "what you need"\`, and
  \`${command} emit permission_cleared ${address}\` once you have it.
- When the task is done: write a short report (what you changed, how you checked it) to \`${report}\`, then run
  \`${command} emit completed ${address} --report "${report}"\`
- If you cannot do it: \`${command} emit failed ${address} --detail "why"\`

If a command answers \`refused\`, read the reason and tell it in your last message. After \`completed\` or \`failed\` end your
turn; start nothing further.
`;
}
