// The processes of a run: the agent, what it started, and what is left of both after its end.
import { groupMembers, type ProcessIdentity, writersOf } from '../process.ts';
import { logsOf, type Run } from './run.ts';

export interface Members {
  /** Leads or led the group; null when there is no group to be signalled. */
  leader: ProcessIdentity | null;
  /** Living processes of the agent's group. */
  group: ProcessIdentity[];
  /** What left the group but still writes the run's log: a child that made itself a session. */
  strays: ProcessIdentity[];
}

export function membersOf(runDir: string, run: Run): Members {
  // The launcher saw that nothing was left: the group's number may be somebody else's by now.
  const isOver = run.phase === 'ended' && run.exit !== null && !('leftovers' in run.exit && run.exit.leftovers);
  if (isOver) return { leader: null, group: [], strays: [] };
  const leader = run.phase === 'running' || run.phase === 'ended' ? run.agent : null;
  const group = leader ? groupMembers(leader) : [];
  const strays = writersOf(logsOf(runDir)).filter(({ pid }) => !group.some((member) => member.pid === pid));
  return { leader, group, strays };
}
