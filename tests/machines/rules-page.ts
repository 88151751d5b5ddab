// docs/rules.md, made from machines/job: every rule, and the transitions that implement it.
import type { AnyStateNode } from 'xstate';
import { getStateNodes } from 'xstate/graph';
import { jobMachine } from '../../machines/job/machine.ts';
import { RULES } from '../../machines/job/rules.ts';

const CHAPTERS: Readonly<Record<string, string>> = Object.freeze({
  Q: 'queued',
  P: 'preflight',
  I: 'idle-wait',
  S: 'subscribed',
  N: 'Before injected',
  D: 'The deadline',
  A: 'What the agent, a person or a loop says in injected',
  X: 'The agent exits',
  V: 'Delivery',
  T: 'The turn',
  C: 'The idle clock',
  B: 'The channel',
  F: 'finalizing',
});

interface Branch {
  meta?: { rule?: string };
  eventType: string;
  target?: readonly AnyStateNode[] | undefined;
}

const pathOf = (node: AnyStateNode): string => node.path.join('.') || 'job';

function eventOf(eventType: string): string {
  const [, done, , effect] = /^xstate\.(done|error)\.(actor)\.(.+)$/.exec(eventType) ?? [];
  if (effect) return `${effect} ${done === 'done' ? 'ends' : 'fails'}`;
  const [, delay] = /^xstate\.after\.([^.]+)\./.exec(eventType) ?? [];
  return delay ? `${delay} is over` : eventType || 'at once';
}

function transitionsByRule(): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const node of new Set<AnyStateNode>([jobMachine.root, ...getStateNodes(jobMachine)])) {
    for (const branch of [...[...node.transitions.values()].flat(), ...(node.always ?? [])] as Branch[]) {
      const target = branch.target?.map(pathOf).join(', ');
      const line = `${pathOf(node)}: ${eventOf(branch.eventType)}${target ? ` → ${target}` : ''}`;
      const id = branch.meta?.rule ?? '';
      lines.set(id, [...new Set([...(lines.get(id) ?? []), line])]);
    }
  }
  return lines;
}

export function rulesPage(): string {
  const transitions = transitionsByRule();
  const text = [
    '# The rules of a job',
    '',
    'Made from `machines/job/rules.ts` and the machine itself; do not edit. The sentences are those of [design.md](design.md) section 5.',
    'Every transition of the job machine names the rule it implements (`meta.rule`). To write this page anew:',
    '`npx vitest run --project fast tests/machines/rules.test.ts -u`.',
  ];
  let chapter = '';
  for (const [id, sentence] of Object.entries(RULES)) {
    const letter = id.replace(/\d+$/, '');
    if (letter !== chapter) text.push('', `## ${CHAPTERS[letter] ?? letter}`);
    chapter = letter;
    text.push('', `**${id}** ${sentence}`, '', ...(transitions.get(id) ?? []).map((line) => `- \`${line}\``));
  }
  return `${text.join('\n')}\n`;
}
