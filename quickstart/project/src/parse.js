/** One line of a price list: `name;amount` with the amount in euros, such as `tea;2,50`. Gives cents. */
export function parseLine(line) {
  const [name, amount] = line.split(';');
  const [euros, cents] = amount.split(',');
  return { name: name.trim(), cents: Number(euros) * 100 + Number(cents) };
}

/** A whole list; empty lines and lines that begin with # are left out. */
export function parseList(text) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(parseLine);
}
