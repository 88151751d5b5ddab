// Who holds which session. At most one job does; who waits longest and is driven comes next.
import type { Clock, Registry, SessionRow } from '../../kernel/ports.ts';
import { type Connection, type Sql, Undo } from './connection.ts';
import * as plans from './plans.ts';

type Sessions = Pick<Registry, 'acquireSession' | 'sessionRow' | 'sessions' | 'releaseSession' | 'quarantineSession'>;
interface Holder {
  id: string;
  epoch: number;
  attempt: number;
}

export function createSessions(connection: Connection, clock: Clock): Sessions {
  return {
    acquireSession: (read) => connection.write((sql) => acquire(sql, read, clock.now())),
    sessionRow: (session) => connection.read((sql) => sql.get<SessionRow>(plans.LOAD_SESSION, { session })),
    sessions: () => connection.read((sql) => sql.all<SessionRow>(plans.LIST_SESSIONS)),
    releaseSession: (read) => connection.write((sql) => orUndo(sql.run(plans.RELEASE_SESSION, asHolder(read)))),
    quarantineSession: (read, reason) =>
      connection.write((sql) =>
        orUndo(sql.run(plans.QUARANTINE_SESSION, { ...asHolder(read), reason, now: clock.now() })),
      ),
  };
}

function acquire(sql: Sql, read: Holder, now: number): boolean {
  const row = sql.get<{ session: string }>(plans.SESSION_OF, asHolder(read));
  if (!row) throw new Undo(false);
  const { session } = row;
  const held = sql.get<SessionRow>(plans.LOAD_SESSION, { session });
  if (held) throw new Undo(held.job === read.id && held.attempt === read.attempt && held.quarantine === null);
  // A row that has ended while its effect still waited is not in the queue: it would keep the session for ever.
  const head = sql.get<{ id: string }>(plans.HEAD_OF_QUEUE, { session, now });
  if (head?.id !== read.id) throw new Undo(false);
  sql.run(plans.TAKE_SESSION, { session, id: read.id, attempt: read.attempt, now });
  return true;
}

const asHolder = ({ id, epoch, attempt }: Holder): { id: string; epoch: number; attempt: number } => ({
  id,
  epoch,
  attempt,
});

/** Nothing was written, so nobody is woken. */
function orUndo(changed: number): void {
  if (changed === 0) throw new Undo(undefined);
}
