// The session's mark on a pane: its option `@stepward`, `<number>.<owner>`, the owner in base64url so that no format of tmux reads
// anything into it; `<number>.` once it was dropped. The server does one command sequence at a time: a check and what depends on it
// are one action.
import type { Fence, Owner } from '../transport.ts';
import { type Tmux, TmuxError } from './client.ts';
import { viewPane } from './pane.ts';

const MARK = /^(\d+)\.([A-Za-z0-9_-]*)$/;

/** The number of a session that cannot be marked (no pane, no tmux, one too old for it): whoever holds it can do nothing, and preflight says why. */
export const NOWHERE: Fence = Object.freeze({ mark: 0 });

/** A format that is true while the mark is this one and was not dropped. */
export const holdsMark = ({ mark }: Fence): string => `#{m:${mark}.?*,#{@stepward}}`;

/** A server that does not answer now may do so later: then this throws, and it is asked again. */
export async function takeMark(
  tmux: Tmux,
  id: string,
  owner: Owner,
  mayReplace: (holder: Owner) => Promise<boolean>,
): Promise<Fence | null> {
  try {
    return await raise(tmux, id, owner, mayReplace);
  } catch (error) {
    if (error instanceof TmuxError && error.trouble !== 'timeout') return NOWHERE;
    throw error;
  }
}

async function raise(
  tmux: Tmux,
  id: string,
  owner: Owner,
  mayReplace: (holder: Owner) => Promise<boolean>,
): Promise<Fence | null> {
  const encoded = Buffer.from(JSON.stringify(owner)).toString('base64url');
  for (;;) {
    const view = await viewPane(tmux, id);
    if ('gone' in view) return NOWHERE;
    const { number, holder } = parseMark(view.mark);
    if (holder && !(await mayReplace(holder))) return null;
    const mark = number + 1;
    // Compare-and-set: somebody else's mark in between, and the next holder is to be asked about.
    const isSame = `#{==:#{@stepward},${view.mark}}`;
    const isTaken = await when(tmux, id, isSame, `set-option -p -t '${id}' @stepward ${mark}.${encoded}`);
    if (isTaken) return { mark };
  }
}

/** What the format above says, of a mark that was read. */
export const isMarkedBy = (raw: string, { mark }: Fence): boolean => raw.startsWith(`${mark}.`) && !raw.endsWith('.');

export async function dropMark(tmux: Tmux, id: string, fence: Fence): Promise<void> {
  try {
    await when(tmux, id, holdsMark(fence), `set-option -p -t '${id}' @stepward ${fence.mark}.`);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const YES = 'stepward:yes';
const NO = 'stepward:no';

/**
 * Performs `command` (in tmux's own syntax: only words that need no quoting but the pane's) if the format is true for the pane, in the same
 * action. The status is 0 either way, so the printed word tells. Throws TmuxError; then it is not known whether it was performed.
 */
export async function when(
  tmux: Tmux,
  id: string,
  condition: string,
  command: string,
  otherwise = '',
): Promise<boolean> {
  const yes = `${command} ; display-message -p ${YES}`;
  const no = `${otherwise}${otherwise && ' ; '}display-message -p ${NO}`;
  const said = (await tmux.run(['if-shell', '-F', '-t', id, condition, yes, no])).trim();
  if (said !== YES && said !== NO) throw new TmuxError('failed', `tmux if-shell: said ${JSON.stringify(said)}`);
  return said === YES;
}

export const allOf = (...formats: [string, ...string[]]): string =>
  formats.reduceRight((rest, format) => `#{&&:${format},${rest}}`);

export const isGone = (error: unknown): boolean =>
  error instanceof TmuxError && (error.trouble === 'no-server' || error.trouble === 'no-target');

export function parseMark(mark: string): { number: number; holder: Owner | null } {
  if (mark === '') return { number: 0, holder: null };
  const [, number, encoded] = MARK.exec(mark) ?? [];
  if (number === undefined) {
    throw new TmuxError('failed', `the pane's option @stepward holds "${mark}", which no Stepward wrote; unset it`);
  }
  return { number: Number(number), holder: decode(encoded ?? '') };
}

/** Null also for an owner that cannot be read: nobody could ever be asked about it. */
function decode(encoded: string): Owner | null {
  try {
    return encoded === '' ? null : (JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Owner);
  } catch {
    return null;
  }
}
