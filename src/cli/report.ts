// `stepward report finalize|check`: hands a report in by its content, without saying that the work is done.
import { EXIT } from '../../machines/job/exit.ts';
import { InputError } from '../signals/errors.ts';
import { type Located, locateAttempt, readKey } from '../signals/locate.ts';
import { finalizeReport, type ManifestFile, verifyManifest } from '../signals/manifest.ts';
import { type AgentIo, type Parsed, parseAgentArgs, processIo, tellError } from './agent-side.ts';

export const reportUsage = `Usage: stepward report finalize [options]
       stepward report check [options]

finalize  writes and signs the manifest: which files make up the report, each with its size and sha256
check     reads every file again and says whether it is still what was signed

Options:
  --report FILE        finalize: the report; default: report.md in the attempt's directory
  --artifact PATH…     finalize: further files to hand in
  --job J --attempt N  which attempt; default: the one whose file STEPWARD_ENV names
  --json               the result as one JSON object on stdout
  -h, --help           this text

Exit codes: 0 finalized, or valid; 1 invalid; 4 refused (no such attempt, or its key is gone); 64 usage.

Examples:
  stepward report finalize
  stepward report finalize --report notes/report.md --artifact coverage.json
  stepward report check --json
`;

const ACTIONS = ['finalize', 'check'] as const;

/** Gives the exit code; never throws. */
export async function reportMain(argv: string[], io: AgentIo = processIo()): Promise<number> {
  const json = argv.includes('--json');
  try {
    const parsed = parseAgentArgs(argv, ['report', 'artifact', 'job', 'attempt', 'json', 'help']);
    if (parsed.help) {
      io.stdout.write(reportUsage);
      return EXIT.ok;
    }
    const action = actionOf(parsed);
    const { job, attempt } = parsed.values;
    const located = await locateAttempt({ from: io.cwd, envFile: io.env.STEPWARD_ENV, job, attempt });
    const key = await readKey(located.paths);
    return action === 'finalize' ? await finalize(parsed, located, key, json, io) : await check(located, key, json, io);
  } catch (error) {
    return tellError(error, json, io);
  }
}

function actionOf({ words, values, artifacts }: Parsed): (typeof ACTIONS)[number] {
  const [word, ...stray] = words;
  const action = ACTIONS.find((known) => known === word);
  if (!action) throw new InputError('ACTION', word ?? null, word ? 'is unknown' : 'is missing', ACTIONS.join(', '));
  if (stray[0] !== undefined) throw new InputError('ACTION', stray[0], 'is one word too many', 'one action');
  const extra = values.report !== undefined ? '--report' : artifacts.length > 0 ? '--artifact' : null;
  if (action === 'check' && extra) throw new InputError(extra, null, 'does not go with check', 'with finalize');
  return action;
}

async function finalize(parsed: Parsed, located: Located, key: string, json: boolean, io: AgentIo): Promise<number> {
  const { artifacts, values } = parsed;
  const done = await finalizeReport({ ...located, key, report: values.report, artifacts, from: io.cwd });
  if (json) io.stdout.write(`${JSON.stringify({ job: located.job, attempt: located.attempt, ...done })}\n`);
  else io.stdout.write(`finalized ${listed(done.files)}\nmanifest sha256 ${done.sha256}\n`);
  return EXIT.ok;
}

async function check(located: Located, key: string, json: boolean, io: AgentIo): Promise<number> {
  const verified = await verifyManifest({ ...located, key });
  if (json) io.stdout.write(`${JSON.stringify({ job: located.job, attempt: located.attempt, ...verified })}\n`);
  else if (verified.valid) io.stdout.write(`valid: ${listed(verified.files)}\n`);
  else io.stderr.write(`invalid: ${verified.why}\n`);
  return verified.valid ? EXIT.ok : EXIT.failed;
}

const listed = (files: ManifestFile[]): string => files.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(', ');
