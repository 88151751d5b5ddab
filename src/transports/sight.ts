// What a transport of live sessions must know of the agent in one. Implemented once a kind in src/agents; a transport knows panes and
// keys, and asks this for what they mean.

/** What a screen shows (docs/design.md section 7). In doubt `unknown`, which counts as busy; never `idle`. */
export const SCREEN_STATES = Object.freeze([
  'starting',
  /** Something other than a permission is asked: trust, login, a menu. Typing would answer it. */
  'dialog',
  'idle',
  /** Idle, but somebody's text stands in the composer. */
  'draft',
  'working',
  'retrying',
  /** A permission is asked for. */
  'blocked',
  'exited',
  'unknown',
] as const);
export type ScreenState = (typeof SCREEN_STATES)[number];

/** The visible screen, never the history: what was asked and answered an hour ago is still in there. */
export interface Screen {
  /** Lines joined by \n, as they stand; trailing spaces may be cut. */
  text: string;
  title: string;
}

export interface Reading {
  state: ScreenState;
  /** A sentence for people: which words or marks say so. */
  because: string;
  /** What stands in the composer, without the agent's own placeholder; null: no composer can be seen, or its text is folded. */
  composer: string | null;
}

/** The live process of an agent. */
export interface AgentProcess {
  pid: number;
  /** As the system tells it; with the pid it names one process. */
  started: string;
  argv: readonly string[];
  cwd: string;
}

/** What an agent's own records say; better than any screen. */
export interface AgentRecord {
  state: 'idle' | 'working' | 'retrying' | 'blocked' | 'exited';
  source: 'native' | 'hook' | 'transcript';
  because: string;
}

export interface Encoded {
  /** What is pasted. */
  text: string;
  /** What the agent will have received, after its own changes. */
  expected: string;
}

export interface Sight {
  readonly kind: string;
  /** The process is this agent, and not a shell or another program. */
  isAgent(process: Pick<AgentProcess, 'argv'>): boolean;
  /** Pure. */
  read(screen: Screen): Reading;
  /** Null: it has none, or none is found. */
  record(agent: AgentProcess): Promise<AgentRecord | null>;
  /** A place in the agent's record; what comes after it is new. Null where there is none. */
  position(agent: AgentProcess): Promise<string | null>;
  /** Exactly this text was received as a prompt after that position. Null: nobody can know. */
  received(agent: AgentProcess, expected: string, since: string | null): Promise<boolean | null>;
  /** One plain line and its like; throws TypeError with a sentence for what no encoding brings there unchanged. */
  encode(text: string): Encoded;
  /** Keys, in tmux's names, that stop a running turn. */
  readonly interruptKeys: readonly string[];
}
