// What one look at a pane means: is our agent there, may one type, what does its turn do. The agent's own record goes before its
// screen; what either of them calls busy is busy.
import type { Hold } from '../../../machines/job/vocabulary.ts';
import type { AgentProcess, AgentRecord, Reading, ScreenState, Sight } from '../sight.ts';
import type { Place, TurnSeen } from '../transport.ts';
import { TmuxError } from './client.ts';
import { identityOf, type PaneGone, type PaneIdentity, type PaneView, viewPane } from './pane.ts';
import type { Parts } from './parts.ts';
import { occupantsOf } from './terminal.ts';
import type { Typed } from './typed.ts';

/** The agent is in the foreground of its pane. */
export interface Present {
  there: 'agent';
  view: PaneView;
  pane: PaneIdentity;
  agent: AgentProcess;
  sight: Sight;
  hold: Hold | null;
  turn: TurnSeen;
  /** What stands in the composer; null: it cannot be seen. */
  composer: string | null;
  /** For people. */
  why: string;
}

export type Seen =
  | Present
  /** The session is over: no pane, a dead one, a bare shell, another program, another agent. */
  | { there: 'nothing'; why: string; sight: Sight | null }
  /** Nothing can be said. */
  | { there: 'unknown'; why: string; sight: Sight | null };

/** `typed`: whom we typed to; anybody else in the same pane is not our agent. Never throws for what it finds. */
export async function see(parts: Parts, place: Place, typed: Typed | null): Promise<Seen> {
  const sight = parts.sightOf(place.kind ?? '');
  const unknown = (why: string): Seen => ({ there: 'unknown', why, sight });
  const nothing = (why: string): Seen => ({ there: 'nothing', why, sight });
  if (!sight) return unknown(`nothing is known of the screens of "${place.kind ?? ''}"`);
  let view: PaneView | PaneGone;
  try {
    view = await viewPane(parts.tmux, place.target);
  } catch (error) {
    if (error instanceof TmuxError) return unknown(error.message);
    throw error;
  }
  parts.pulse.seen(place.target, 'gone' in view ? null : view);
  if ('gone' in view) return nothing(view.gone);
  if (view.dead) return nothing(`the program in pane ${view.id} is over: ${view.ending}`);
  const pane = identityOf(view);
  const occupants = pane && occupantsOf(view.pid, sight.isAgent);
  if (!occupants) return nothing(`the process of pane ${view.id} (pid ${view.pid}) cannot be seen from here`);
  if (typed && !isSame(typed.pane, pane)) return nothing(`pane ${view.id} was started anew`);
  const agent = occupants.agent ?? occupants.behind;
  if (!agent) return nothing(`pane ${view.id} shows ${occupants.front}, not ${sight.kind}`);
  if (typed && !isSame(typed.agent, agent)) {
    return nothing(`${sight.kind} was started anew in pane ${view.id} (pid ${agent.pid}, before ${typed.agent.pid})`);
  }
  if (!occupants.agent) return unknown(`${occupants.front} is in front of ${sight.kind} in pane ${view.id}`);
  return { there: 'agent', view, pane, agent, sight, ...(await meaningOf(sight, view, agent)) };
}

export const isSame = (a: { pid: number; started: string }, b: { pid: number; started: string }): boolean =>
  a.pid === b.pid && a.started === b.started;

/** Settled, nothing in the composer, no dialog; nobody scrolls. */
export const isFree = (seen: Seen): seen is Present & { hold: null } => seen.there === 'agent' && seen.hold === null;

type Meaning = Pick<Present, 'hold' | 'turn' | 'composer' | 'why'>;

async function meaningOf(sight: Sight, view: PaneView, agent: AgentProcess): Promise<Meaning> {
  const reading = readingOf(sight, view);
  const record = await sight.record(agent).catch((error: unknown) => String(error));
  const meaning = judge(reading, record);
  if (!view.inMode) return meaning;
  // The screen below is seen all the same; keys would go to tmux, not to the agent.
  return {
    ...meaning,
    hold: meaning.hold === 'dialog' ? 'dialog' : 'busy',
    why: `copy-mode: somebody scrolls in pane ${view.id}`,
  };
}

function readingOf(sight: Sight, { text, title }: PaneView): Reading {
  try {
    return sight.read({ text, title });
  } catch (error) {
    return { state: 'unknown', because: `its screen cannot be read: ${error}`, composer: null };
  }
}

const ASKS: readonly string[] = ['dialog', 'blocked'] satisfies ScreenState[];
const WORKS: readonly string[] = ['working', 'retrying'] satisfies ScreenState[];

/** A record that cannot be read is a sentence. */
function judge(reading: Reading, record: AgentRecord | string | null): Meaning {
  const { composer, because } = reading;
  const screen: string = reading.state;
  if (typeof record === 'string') return { hold: 'busy', turn: 'hidden', composer, why: `no record: ${record}` };
  const own: string | null = record?.state ?? null;
  const byRecord = record?.because ?? because;
  if (ASKS.includes(screen)) return { hold: 'dialog', turn: 'blocked', composer, why: because };
  if (own === 'blocked') return { hold: 'dialog', turn: 'blocked', composer, why: byRecord };
  if (own !== null && WORKS.includes(own)) return { hold: 'busy', turn: 'working', composer, why: byRecord };
  if (WORKS.includes(screen)) return { hold: 'busy', turn: 'working', composer, why: because };
  const isReadable = screen === 'idle' || screen === 'draft';
  const turn: TurnSeen = own === 'idle' || (own === null && isReadable) ? 'settled' : 'hidden';
  if (!isReadable || turn === 'hidden' || composer === null) {
    return { hold: screen === 'draft' ? 'draft' : 'busy', turn, composer, why: because };
  }
  if (screen === 'draft' || composer.trim() !== '') return { hold: 'draft', turn, composer, why: because };
  return { hold: null, turn, composer, why: because };
}
