// Any error as a sentence and an exit code. A stack is for whoever asked for one (--verbose, STEPWARD_DEBUG=1).
import { EXIT } from '../../machines/job/exit.ts';

interface Failure {
  exit: number;
  sentence: string;
  stack: string | null;
}

/** What a caller can mend by naming another registry; everything else of a registry is trouble, not bad input. */
const BAD_REGISTRY: readonly unknown[] = Object.freeze(['newer_schema', 'network_fs', 'corrupt']);

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { exit: EXIT.failed, sentence: String(error), stack: null };
  const stack = error.stack ?? null;
  const exit = exitOf(error);
  const ours = exit !== null;
  const sentence = oneLine(error.message) || error.name;
  return { exit: exit ?? EXIT.failed, sentence: ours ? sentence : `${sentence} (--verbose shows where)`, stack };
}

/** Null: not an error that we know. By name, since naming the classes would load their layers for every failing flag. */
function exitOf(error: Error & { exit?: unknown; code?: unknown }): number | null {
  switch (error.name) {
    case 'UsageError':
    case 'RefusedError':
      return Number(error.exit);
    case 'InputError':
    case 'PlaceError':
      return EXIT.usage;
    case 'RegistryError':
      return BAD_REGISTRY.includes(error.code) ? EXIT.usage : EXIT.failed;
    case 'AttemptError':
      return EXIT.failed;
    default:
      return null;
  }
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim();
