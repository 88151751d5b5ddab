// Agents' events go on only while those who hear them keep up. A PUBACK is given before anybody has read the event, so without this
// one agent that floods would fill the memory of the broker, and the sockets of the drivers, who would then be hung up on.

/** How often it is looked whether there is room again, ms, and how many may go on then. */
const LOOK_MS = 5;
const STEP = 100;

export interface Passage {
  /** Calls `go` at once, or later when it is not busy any more: who came first goes first. */
  enter(go: () => void): void;
  /** Whoever waits waits for ever. */
  close(): void;
}

export function createPassage(isBusy: () => boolean): Passage {
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    timer = undefined;
    let gone = 0;
    while (gone < STEP && gone < waiting.length && !isBusy()) waiting[gone++]?.();
    waiting = waiting.slice(gone);
    later();
  }

  function later(): void {
    if (waiting.length > 0) timer ??= setTimeout(look, LOOK_MS);
  }

  return {
    enter(go) {
      if (waiting.length === 0 && !isBusy()) return go();
      waiting.push(go);
      later();
    },
    close() {
      clearTimeout(timer);
      waiting = [];
    },
  };
}
