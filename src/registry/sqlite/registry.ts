// The SQLite registry: the parts put together over one connection.
import type { Clock, Registry } from '../../kernel/ports.ts';
import { createChanges } from './changes.ts';
import { createCommits } from './commit.ts';
import type { Connection } from './connection.ts';
import { createEffects } from './effects.ts';
import { createInbox } from './inbox.ts';
import { createLeases } from './leases.ts';
import { changedSince, readLog } from './log.ts';
import { createRows } from './rows.ts';
import { createSessions } from './sessions.ts';

export function createRegistry(connection: Connection, clock: Clock, dir: string): Registry {
  const changes = createChanges(connection, dir);
  return {
    now: () => clock.now(),
    ...createRows(connection, clock),
    ...createCommits(connection, clock),
    ...createLeases(connection, clock),
    ...createInbox(connection, clock),
    ...createEffects(connection),
    ...createSessions(connection, clock),
    log: (filter) => connection.read((sql) => readLog(sql, filter)),
    changedSince: (seq) => connection.read((sql) => changedSince(sql, seq)),
    onChange: (listener) => changes.onChange(listener),
    async close() {
      changes.stop();
      connection.close();
    },
  };
}
