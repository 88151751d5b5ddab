// Refusals in the log, without what was refused. Whoever has a broker's password can send anything as often as it likes: the log must
// not grow with it, nor say the same again at each repetition.

/** Rows at once for a job, and then one for each of these, ms. */
const BURST = 20;
const PACE_MS = 1000;
/** Refusals that are remembered as told, and jobs that are remembered at all. */
const TOLD_LIMIT = 1000;

export interface Refusal {
  job: string;
  why: string;
  /** Short: it is kept. */
  data: Readonly<Record<string, string | number>>;
  /** The same for the same message. */
  mark: string;
}

export interface Refusals {
  /** Resolves when it is logged, or counted to be logged later with others. Throws what `log` throws. */
  tell(refusal: Refusal): Promise<void>;
  /** What was only counted is not logged any more. */
  stop(): void;
}

interface Account {
  /** Rows that may be written now. */
  rows: number;
  /** When that was so (performance.now()). */
  at: number;
  leftOut: number;
  last: string;
  timer: NodeJS.Timeout | undefined;
}

export function createRefusals(log: (refusal: Omit<Refusal, 'mark'>) => Promise<void>): Refusals {
  const told = new Set<string>();
  const accounts = new Map<string, Account>();

  function accountOf(job: string): Account {
    const now = performance.now();
    let account = accounts.get(job);
    if (!account) {
      if (accounts.size >= TOLD_LIMIT) forget();
      account = { rows: BURST, at: now, leftOut: 0, last: '', timer: undefined };
      accounts.set(job, account);
    }
    account.rows = Math.min(account.rows + (now - account.at) / PACE_MS, BURST);
    account.at = now;
    return account;
  }

  function forget(): void {
    for (const [job, { leftOut }] of accounts) if (leftOut === 0) accounts.delete(job);
  }

  function leaveOut(job: string, account: Account, why: string): void {
    account.leftOut++;
    account.last = why;
    tellLater(job, account);
  }

  function tellLater(job: string, account: Account): void {
    account.timer ??= setTimeout(async () => {
      account.timer = undefined;
      const { leftOut, last } = account;
      account.leftOut = 0;
      accountOf(job).rows--;
      const why = `${leftOut} more ${leftOut === 1 ? 'was' : 'were'} refused, the last one so: ${last}`;
      await log({ job, why, data: { leftOut } }).catch(() => {
        account.leftOut += leftOut;
        tellLater(job, account);
      });
    }, PACE_MS);
    account.timer.unref();
  }

  return {
    async tell({ mark, ...refusal }) {
      if (told.has(mark)) return;
      const account = accountOf(refusal.job);
      if (account.leftOut > 0 || account.rows < 1) return leaveOut(refusal.job, account, refusal.why);
      account.rows--;
      await log(refusal);
      if (told.size >= TOLD_LIMIT) told.clear();
      told.add(mark);
    },
    stop() {
      for (const { timer } of accounts.values()) clearTimeout(timer);
      accounts.clear();
    },
  };
}
