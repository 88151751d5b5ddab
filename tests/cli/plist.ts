// Reads a property list as strictly as XML is: anything that is not one whole, well-formed document throws.

type Plist = string | number | boolean | Plist[] | { [key: string]: Plist };

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function parsePlist(xml: string): Plist {
  let rest = xml;
  const eat = (pattern: RegExp): string => {
    const match = new RegExp(`^(?:${pattern.source})`, 's').exec(rest);
    if (!match) throw new Error(`not well-formed at: ${rest.slice(0, 60)}`);
    rest = rest.slice(match[0].length);
    return match[1] ?? match[0];
  };
  const at = (text: string): boolean => {
    rest = rest.trimStart();
    return rest.startsWith(text);
  };
  const text = (tag: string): string => {
    at('');
    // No markup and no stray ampersand inside.
    const inner = eat(new RegExp(`<${tag}>((?:[^<&]|&(?:amp|lt|gt|quot|apos);)*)</${tag}>`));
    return inner.replace(/&(\w+);/g, (_, name: string) => ENTITIES[name] ?? '');
  };
  const value = (): Plist => {
    if (at('<string>')) return text('string');
    if (at('<integer>')) return Number(text('integer'));
    if (at('<true/>')) return eat(/<true\/>/) !== '';
    if (at('<false/>')) return eat(/<false\/>/) === '';
    const isArray = at('<array>');
    eat(isArray ? /<array>/ : /<dict>/);
    const list: Plist[] = [];
    const dict: Record<string, Plist> = {};
    while (!at(isArray ? '</array>' : '</dict>')) {
      if (isArray) list.push(value());
      else dict[text('key')] = value();
    }
    eat(isArray ? /<\/array>/ : /<\/dict>/);
    return isArray ? list : dict;
  };
  eat(/<\?xml version="1\.0" encoding="UTF-8"\?>\n/);
  eat(/<!DOCTYPE plist PUBLIC "[^"]+" "[^"]+">\n/);
  // Two dashes inside would end it early.
  const comment = eat(/<!--(.*?)-->\n/);
  if (comment.includes('--')) throw new Error('two dashes in a comment');
  eat(/<plist version="1\.0">/);
  const found = value();
  at('');
  eat(/<\/plist>\n?$/);
  return found;
}
