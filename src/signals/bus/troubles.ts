// What is wrong, told when it begins, when it becomes something else, and when it is over: never at each try.
export interface Troubles {
  begin(subject: string, sentence: string): void;
  /** @param sentence told if there was trouble */
  over(subject: string, sentence: string): void;
  /** Nobody is interested any more. */
  drop(subject: string): void;
}

export function createTroubles(warn: (sentence: string) => void): Troubles {
  const told = new Map<string, string>();
  return {
    begin(subject, sentence) {
      if (told.get(subject) === sentence) return;
      told.set(subject, sentence);
      warn(sentence);
    },
    over(subject, sentence) {
      if (told.delete(subject)) warn(sentence);
    },
    drop(subject) {
      told.delete(subject);
    },
  };
}
