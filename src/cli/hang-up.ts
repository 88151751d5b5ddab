// The terminal has gone away. Node ends with a crash (SIGABRT, SIGSEGV) when it wants to put a dead terminal in order at its exit, so a
// process that has tidied up ends by the very signal instead, as one does that does not handle it.

let hungUp = false;

export const noteHangUp = (): void => {
  hungUp = true;
};

/** Like process.exit; the code is lost with the terminal. */
export function leave(code: number): void {
  if (!hungUp) process.exit(code);
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
  // Where the signal is ignored after all.
  setTimeout(() => process.exit(code), 200);
}
