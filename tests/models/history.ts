// What a rule says about the past ("at most once", "only after"), asked of every history the graph allows, with a memory that
// the test keeps for itself: the machine's own context may be what is wrong.
import type { Edge, Graph } from './graph.ts';

/**
 * Walks every pair of node and memory. `remember` gives the memory after an edge; `judge` names what is wrong with taking the
 * edge with that memory, or gives null. Returns each complaint once, with the way of the first history that led to it.
 */
export function complaints<Memory extends string | number | boolean>(
  graph: Graph,
  start: Memory,
  remember: (memory: Memory, edge: Edge) => Memory,
  judge: (memory: Memory, edge: Edge, after: Memory) => string | null,
): string[] {
  const seen = new Set([`${graph.start.key}|${start}`]);
  const queue = [{ node: graph.start, memory: start }];
  const found = new Set<string>();
  for (const { node, memory } of queue) {
    for (const edge of node.edges) {
      if (edge.refused) continue;
      const next = remember(memory, edge);
      const wrong = judge(memory, edge, next);
      if (wrong) found.add(`${wrong}: ${edge.name}`);
      const id = `${edge.target.key}|${next}`;
      if (!seen.has(id)) {
        seen.add(id);
        queue.push({ node: edge.target, memory: next });
      }
    }
  }
  return [...found];
}
