// Level 1, what each state refuses, as a fixture that is read by people. A change of it is a change of what the product does.
// `npx vitest run --project fast tests/models/job.refusals.test.ts -u` writes it anew.
import { expect, it } from 'vitest';
import { eventName } from './events.ts';
import { type Edge, explore } from './graph.ts';
import { PROVISIONAL, REPORTS } from './page.ts';
import { placeName, viewOf } from './view.ts';

/** One line of the fixture: in finalizing, refusing depends on who decided the outcome, so that is part of the line's name. */
function lineName({ from }: Edge): string {
  const place = placeName(from.state, false);
  if (viewOf(from.state).place !== 'finalizing') return place;
  const reason = from.state.context.outcome?.reason ?? '';
  return `${place}, ${PROVISIONAL.includes(reason) ? 'provisional' : REPORTS.includes(reason) ? 'reported' : 'cancelled by a person'}`;
}

it('the refusal table is the reviewed one', async () => {
  const lines = new Map<string, Map<string, { refused: number; taken: number }>>();
  for (const edge of explore().edges) {
    // Results and timers are only tried where they stand. The broker's news depend on the channel alone: lines of their own.
    if (edge.event.type.startsWith('xstate.')) continue;
    const bus = edge.event.type.startsWith('bus.') && viewOf(edge.from.state).place === 'injected';
    const name = bus ? `injected, channel ${viewOf(edge.from.state).channel}` : lineName(edge);
    const cells = lines.get(name) ?? new Map();
    lines.set(name, cells);
    const event = eventName(edge.event, edge.from.state.context.lastPermission).replace(/ (draft|newer)$/, '');
    const cell = cells.get(event) ?? { refused: 0, taken: 0 };
    cells.set(event, cell);
    cell[edge.refused ? 'refused' : 'taken']++;
  }
  const text = [...lines]
    .map(([name, cells]) => {
      const words = [...cells].sort();
      const refused = words.flatMap(([event, cell]) =>
        cell.refused ? [cell.taken ? `${event} (sometimes)` : event] : [],
      );
      const taken = words.flatMap(([event, cell]) => (cell.refused ? [] : [event]));
      // The shorter list says it: a state that refuses nearly everything is read by what it takes.
      if (refused.length === 0) return `${name}\n  refuses nothing`;
      if (refused.length <= taken.length) return `${name}\n  refuses only ${refused.join(', ')}`;
      return `${name}\n  refuses all but ${taken.join(', ') || 'nothing'}`;
    })
    .sort()
    .join('\n');
  expect(lines.size).toBeGreaterThan(35);
  await expect(`${text}\n`).toMatchFileSnapshot('../../fixtures/models/job.refusals.txt');
});
