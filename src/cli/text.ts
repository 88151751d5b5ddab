// Text that others wrote, made fit for a line on a terminal.

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go; an agent's progress line could drive the terminal.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/** One line, no control characters, no characters that turn the direction of what follows. */
export const plain = (text: string): string => text.replace(CONTROL, ' ').trim();

/** At most `limit` characters, never half of one. */
export function cut(text: string, limit: number): string {
  const points = [...text];
  return points.length <= limit ? text : `${points.slice(0, Math.max(0, limit - 1)).join('')}…`;
}

/** The first line that says something, for lists. */
export function titleOf(task: string): string {
  const line = task.split('\n').find((text) => plain(text) !== '') ?? '';
  return cut(plain(line).replace(/^#+\s+/, ''), 80);
}

/** Columns as wide as their widest cell, the last one as long as it is. `widths` are of the bare text; `paint` may colour it. */
export function table(
  rows: readonly string[][],
  paint: (cell: string, row: number, column: number) => string,
): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length))) ?? [];
  return rows.map((row, r) =>
    row
      .map(
        (cell, c) => paint(cell, r, c) + (c === row.length - 1 ? '' : ' '.repeat((widths[c] ?? 0) - [...cell].length)),
      )
      .join('  ')
      .trimEnd(),
  );
}
