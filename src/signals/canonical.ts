// Canonical JSON (RFC 8785): the one text that is signed, however the object was built or read back. Own, since it is small and
// `stepward emit` loads it at every call.

export class CanonicalError extends Error {
  override name = 'CanonicalError';
}

/**
 * Numbers and strings are JSON.stringify's, which RFC 8785 adopts (sections 3.2.2.2 and 3.2.2.3); members are sorted by UTF-16
 * code units (3.2.3), which is how `<` compares. Members that are undefined are left out, as JSON.stringify does. Throws
 * CanonicalError for what JSON cannot say (NaN, Infinity, a lone surrogate, a function): two readers could sign different texts.
 */
export function canonicalize(value: unknown): string {
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CanonicalError(`${value} is no JSON number`);
    return JSON.stringify(value);
  }
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  if (typeof value !== 'object') throw new CanonicalError(`a ${typeof value} is no JSON value`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${text(name)}:${canonicalize(member)}`);
  return `{${members.join(',')}}`;
}

function text(value: string): string {
  if (/\p{Surrogate}/u.test(value)) throw new CanonicalError('a string holds half of a surrogate pair');
  return JSON.stringify(value);
}
