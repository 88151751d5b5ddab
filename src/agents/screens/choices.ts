// A list to choose from at the bottom of a screen: what every dialog of these agents has, and what a typed text would answer.

export interface Choices {
  /** The line of the first choice. */
  first: number;
  /** The line of the last one. */
  last: number;
  /** As they are labelled, without their numbers; only their first lines. */
  labels: readonly string[];
}

const CHOICE = /^\s*(?:[❯›>]\s*)?\d{1,2}[.)]\s+(\S.*)$/;
const MARKED = /^\s{0,6}[❯›>]\s*\d{1,2}[.)]\s+\S/;

/** How far above the last line the marked choice may be. */
const REACH = 40;

/** The lowest list of numbered choices of which one is marked; null: there is none. */
export function choicesIn(lines: readonly string[]): Choices | null {
  const marked = lines.findLastIndex((line, i) => i >= lines.length - REACH && MARKED.test(line));
  if (marked < 0) return null;
  const found = lines.flatMap((line, i) => (CHOICE.test(line) && i > marked - REACH ? [i] : []));
  // Choices follow each other, with descriptions and wrapped lines between them: never a gap as wide as this.
  const near = (a: number, b: number) => Math.abs(a - b) <= 5;
  let from = found.indexOf(marked);
  let to = from;
  while (from > 0 && near(found[from - 1]!, found[from]!)) from--;
  while (to < found.length - 1 && near(found[to + 1]!, found[to]!)) to++;
  if (from === to) return null;
  const own = found.slice(from, to + 1);
  return {
    first: own[0]!,
    last: own.at(-1)!,
    labels: own.map((i) => CHOICE.exec(lines[i]!)?.[1] ?? ''),
  };
}
