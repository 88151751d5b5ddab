/** A word as a POSIX shell reads it; as it stands where nothing in it means anything to a shell. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
